import { compile } from "html-to-text"

const format = { options: { uppercase: false } }

// Compiled once: the selectors cost as much as the conversion.
const toText = compile({
  wordwrap: false,
  selectors: [
    { selector: "img", format: "skip" },
    // In capital letters a token would be another one.
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, ...format })),
  ],
})

/** Renders an HTML body as text, its links in brackets. */
export const mailText = (html: string): string => toText(html)
