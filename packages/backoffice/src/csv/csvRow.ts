/** Writes a row of CSV (RFC 4180). */
export const csvRow = (cells: ReadonlyArray<string | null | undefined>): string =>
  `${cells.map((cell) => (/[",\r\n]|^\s|\s$/.test(cell ?? "") ? `"${cell?.replaceAll('"', '""')}"` : cell)).join(",")}\r\n`

/** Adds an apostrophe before a text that a spreadsheet would run as a formula (OWASP, CSV injection). */
export const disarmFormula = (text: string): string => (/^[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text)
