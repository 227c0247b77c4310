"""Credentials are hidden by their form; code that only speaks of them is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.facts.secrets import HIDDEN, _pieces, hidden, hidden_in
from recon.records.install import Excerpt
from recon.records.unknown import Unknown

SECRETS = [
    ("https://me:s3cr3t@host/x", "s3cr3t"),
    ("git clone ssh://deploy:p@ss@host/x", "p@ss"),
    ("git+https://oauth2:a@b@git.example/x", "oauth2"),
    ("index-url = https://tok123@pypi.example/simple", "tok123"),
    ("hf_AbCdEfGhIjKlMnOpQrStUvWx", "AbCdEf"),
    ("key: sk-proj-0123456789abcdefABCDEF", "0123456789"),
    ("AKIAIOSFODNN7EXAMPLE", "IOSFODNN"),
    ("ghp_0123456789abcdefghijABCDEFGHIJ012345", "0123456789"),
    ("github_pat_11ABCDEFG0123456789_abcdef", "11ABCDEFG"),
    ("glpat-abcdefghij0123456789", "abcdefghij"),
    ("pypi-AgEIcHlwaS5vcmcCJDAwMDAwMDAw", "AgEIcHlw"),
    ("nvapi-abcdefghijklmnopqrst0123", "abcdefgh"),
    ("xoxb-123456789012-abcdefghijkl", "123456789012"),
    ("AIzaSyA0123456789abcdefghijklmnopqrstuv", "SyA012345"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-DEF_123", "hbGciOi"),
    ("API_KEY = 'k3yk3yk3yk3y'", "k3yk3y"),
    ('"password": "hunter2hunter2"', "hunter2"),
    ('os.environ["HF_TOKEN"] = "t0kent0ken"', "t0kent0ken"),
    ("vllm serve --api-key k3yk3yk3y --port 8000", "k3yk3yk3y"),
    ("Authorization: Bearer abc123def456", "abc123"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz\n-----END OPENSSH PRIVATE KEY-----", "b3BlbnNz"),
    ("HF_TOKEN=t0kent0ken vllm serve", "t0kent0ken"),
    ("[remote]\npassword = hunter2hunter2\n", "hunter2"),
    ("secret: str = 'S3cr3tS3cr3t'", "S3cr3t"),
    ('password = "hunter2"', "hunter2"),
    ("password='hunter'", "hunter"),
    ('self.db_password: Optional[str] = "hunterab"', "hunter"),
    ('client(api_key=b"hunterab", user="x")', "hunter"),
    ('secret = f"hunterab"', "hunter"),
    ('passphrase = """hunter\nab"""', "hunter"),
    ("passphrase = '''correct horse'''", "horse"),
    ('password = ("hunt"\n    "hunterab")', "hunt"),
    ('password = \\\n    "hunterab"', "hunter"),
    ('os.environ.setdefault("HF_TOKEN", "hunterab")', "hunter"),
    ('os.environ["HF_TOKEN"] = "hunterab"', "hunter"),
    ('os.getenv("HF_TOKEN", "hunterab")', "hunter"),
    ('os.getenv("HF_TOKEN") or "hunterab"', "hunter"),
    ('parser.add_argument("--token", type=str, default="hunterab")', "hunter"),
    ('parser.add_argument(\n    "--hf-token", help="of (the) hub",\n    default="hunterab")', "hunter"),
    ('{"secret_key": "hunterab", "private_key": b"x"}', "hunter"),
    ("{'private_key': b'hunterab'}", "hunter"),
    ('dict(access_token="hunterab")', "hunter"),
    ('requests.get(u, auth=("me", "hunterab"))', "hunter"),
    ('requests.get(u, auth=HTTPBasicAuth("me", "hunterab"))', "hunter"),
    ('login("me", "hunterab")', "hunter"),
    ('api_key: str = Field(default="hunterab")', "hunter"),
    ('api_key = SecretStr("hunterab")', "hunter"),
    ('if password == "hunterab":', "hunter"),
    ('if "hunterab" == config.password:', "hunter"),
    ('def connect(self, password="hunterab"):', "hunter"),
    ('credentials = {"user": "me", "pw": "hunterab"}', "hunter"),
    ('passwords = ["hunter1", "hunterab"]', "hunter"),
    ('setattr(self, "password", "hunterab")', "hunter"),
    ('cmd = ["vllm", "--api-key", "hunterab"]', "hunter"),
    ("vllm serve --api-key=hunterab", "hunter"),
    (r'body = "{\"password\": \"hunterab\"}"', "hunter"),
    ('#define API_KEY "hunterab"', "hunter"),
    ('headers = {"Authorization": "Bearer hunterab"}', "hunter"),
    ("dckr_pat_abcdefghijklmnopqrst", "abcdefgh"),
    ("npm_abcdefghijklmnopqrstuvwxyz0123456789", "abcdefgh"),
    ("gldt-abcdefghijklmnop0123", "abcdefgh"),
    ("sk_live_abcdefghijklmnop", "abcdefgh"),
    ("xapp-1-A0123456789-abcdef", "A0123456789"),
    ('[url "https://me:hunter/ab@host/"]\n\tinsteadOf = https://host/', "hunter"),
    ("\turl = https://me:hunter?ab@host/x.git", "hunter"),
    ("\turl = https://me:hunter#ab@host/x.git", "hunter"),
    ("[global]\nextra-index-url = https://me:hunter@ab/c@host/simple", "hunter"),
    ("machine host login me password hunterab", "hunter"),
    ("machine host\n  login me\n  password hunterab", "hunter"),
    ("export hf_token=hunterab", "hunter"),
    ("OPENAI_API_KEY=hunterab", "hunter"),
    ("ENV HF_TOKEN=hunterab", "hunter"),
    ("ARG HF_TOKEN hunterab", "hunter"),
    ("docker run -e HF_TOKEN=hunterab image", "hunter"),
    ("//registry.example/:_authToken=hunterab", "hunter"),
    ("aws_secret_access_key = hunterab12", "hunter"),
    ('"Server=x;Password=hunterab;"', "hunter"),
    ("https://host.example/a?token=hunterab&x=1", "hunter"),
    ("MIIEpAIBAAKCAQEA7bq0\n-----END RSA PRIVATE KEY-----", "MIIEpAIB"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq0", "MIIEpAIB"),
    ("    MIIEpAIBAAKCAQEA7bq0MIIEpAIBAAKCAQEA7bq0MIIEpAIBAAKCAQEA7bq0abcd\n", "MIIEpAIB"),
]


@pytest.mark.parametrize(("text", "secret"), SECRETS, ids=[text[:24] for text, _ in SECRETS])
def test_a_credential_is_hidden(text: str, secret: str) -> None:
    assert secret not in hidden(text)
    assert HIDDEN in hidden(text)


@pytest.mark.parametrize(
    "text",
    [
        "next_token = sampled_token_ids[0]",
        "token_ids: torch.Tensor = draft_token_ids2",
        'mask_token = "<|mask|>"',
        "def verify(token, secret): return token == secret",
        "https://host.example/a@b",
        "tree_mask[batch, head] = 1.0",
        "eos_token = tokenizer.eos_token_id",
        'parser.add_argument("--api-key", type=str)',
        "num_tokens=num_draft_tokens1",
        "a @ b",
        "torch.empty_like(logprob_token_ids, dtype=torch.float32)",
        "TOKEN_BLOCK=BLOCK_1024",
        "    S3_SECRET_ACCESS_KEY,\n    dtype=torch.int32,",
        "batch.sort(key=lambda request: request.arrival)",
        'sampling = SamplingParams(max_tokens=16, stop="</s>")',
        'pad_token = "[PAD]"; eos_token = "</s>"; image_token = "<image>"',
        'tokenizer_mode = "auto"',
        'api_key = os.environ.get("OPENAI_API_KEY", "EMPTY")',
        'API_KEY_VARIABLE = "VLLM_API_KEY"',
        "client(api_key=api_key, token=self.token)",
        'headers = {"Authorization": f"Bearer {key}"}',
        'input("Password: ", "anything else")',
        'parser.add_argument("--api-key", "-k", help="the key that a server wants")',
        'fields = ("token", "secret", "password")',
        "git+https://host.example/x.git@v1.0",
        "https://host.example/@scope/x",
        "file:///src/a@b",
        "author = 'vLLM Team'",
        '"model.embed_tokens": {"format": "int8_tensorwise"},',
        'tokens = {\n    "bfloat16": "bf16",\n    "float16": "f16",\n}',
        'headers = {"Authorization": "Bearer None"}',
        r'rf"[A-Za-z][A-Za-z+.-]*:(?://(?:(?:[{_URI}:-]|{_ESCAPED})*@)?"',
        "// Parameters of\n// DepthwiseFpropActivationDirect2dConvTileAccessIteratorFixedStrideDilation",
        "key = f'{prefix}.weight'",
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    ],
)
def test_code_that_only_speaks_of_tokens_stays(text: str) -> None:
    assert text == hidden(text)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"], exclude_characters="\"'<>`"), min_size=1))
def test_no_character_of_a_password_in_a_url_survives(password: str) -> None:
    """Whatever stands in it, but for what ends a URL in a text."""
    assert f"see https://{HIDDEN}@host/x now" == hidden(f"see https://me:{password}@host/x now")


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters='"\\{}$<>%'), min_size=8))
def test_no_character_of_a_quoted_password_survives(password: str) -> None:
    """Short or long, with or without digits."""
    assert f'{{"password": "{HIDDEN}"}}' == hidden(f'{{"password": "KEPT{password}"}}')


@given(st.text())
def test_any_text_is_hidden_and_then_stays(text: str) -> None:
    """Nothing breaks, and hiding twice is hiding once."""
    once = hidden(text)

    assert once == hidden(once)


def test_a_record_is_hidden_all_through_and_otherwise_the_same() -> None:
    plain = (Excerpt("a.py", 1, "x = 1"), Unknown("a", "b", "c"))
    leaky = (Excerpt("a.py", 1, "x = 'hf_AbCdEfGhIjKlMnOpQrStUvWx'"), plain[1])

    assert plain is hidden_in(plain)
    assert (Excerpt("a.py", 1, f"x = '{HIDDEN}'"), plain[1]) == hidden_in(leaky)


def test_a_long_text_is_looked_at_in_pieces_that_end_with_a_line() -> None:
    """What is looked at together is bounded, and nothing is lost but the rest of a word that nobody would read."""
    line = "x = 'a word'  # " + "y" * 60 + "\n"
    text = line * 200 + 'API_KEY = "a1b2c3d4e5f6"\n' + line * 200
    word = "z" * 10_000

    assert text.replace("a1b2c3d4e5f6", "[secret]") == hidden(text)
    assert "z" * 4093 + "... end" == hidden(f"{word} end")
    assert all(len(piece) <= 4096 for piece in _pieces(f"{text}{word} {word}\n{text}"))


def test_a_private_key_is_hidden_wherever_a_long_text_is_cut() -> None:
    """The middle of it is known by its lines."""
    body = "".join(
        f"b3BlbnNzaC1r{number:04}ZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAA\n" for number in range(200)
    )
    text = hidden(f"-----BEGIN OPENSSH PRIVATE KEY-----\n{body}-----END OPENSSH PRIVATE KEY-----\n")

    assert "b3BlbnNz" not in text
