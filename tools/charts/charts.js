// What the page draws with, and nothing more of Observable Plot.
export { areaY, dot, line, plot, text } from "@observablehq/plot";
