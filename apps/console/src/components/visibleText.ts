// Line breaks and tabs lay a text out, and the joiners U+200C and U+200D belong to scripts and emoji.
const INVISIBLE = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Returns a text in which control characters and marks of direction are written as escapes, such as `\u{202e}`. */
export const visibleText = (text: string): string =>
  text.replaceAll("\r\n", "\n").replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
