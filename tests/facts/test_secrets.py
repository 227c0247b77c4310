"""Credentials are hidden by their form; code that only speaks of them is not."""

import pytest

from recon.facts.secrets import HIDDEN, hidden, hidden_in
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
    ],
)
def test_code_that_only_speaks_of_tokens_stays(text: str) -> None:
    assert text == hidden(text)


def test_a_record_is_hidden_all_through_and_otherwise_the_same() -> None:
    plain = (Excerpt("a.py", 1, "x = 1"), Unknown("a", "b", "c"))
    leaky = (Excerpt("a.py", 1, "x = 'hf_AbCdEfGhIjKlMnOpQrStUvWx'"), plain[1])

    assert plain is hidden_in(plain)
    assert (Excerpt("a.py", 1, f"x = '{HIDDEN}'"), plain[1]) == hidden_in(leaky)
