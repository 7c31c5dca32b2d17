const ERASE = "\r\u001b[K"

/** Shows the sandbox on standard output. */
export interface Display {
  readonly print: (text: string) => void
  /** Shows a step of the start, only on a terminal. */
  readonly step: (text: string) => void
  /** Shows changed counts. */
  readonly count: (parts: ReadonlyArray<string>) => void
}

/** On a terminal, steps and counts replace each other in one line, so that the URLs above stay visible. Elsewhere counts are lines. */
export const openDisplay = (): Display => {
  const { stdout } = process
  const isTerminal = stdout.isTTY && process.env["TERM"] !== "dumb"
  let shown = ""
  // A closed terminal accepts no more output.
  stdout.on("error", () => {})
  const print = (text: string) => {
    stdout.write(`${isTerminal ? ERASE : ""}${text}\n`)
    shown = ""
  }
  const replace = (text: string) => {
    shown = text
    // A wrapped line couldn't be erased. A terminal without a size has 0 columns.
    stdout.write(ERASE + text.slice(0, (stdout.columns || 80) - 1))
  }
  return {
    print,
    step: (text) => {
      if (isTerminal) replace(text)
    },
    count: (parts) => {
      const text = parts.join(" · ")
      if (text === shown) return
      if (isTerminal) return replace(text)
      print(text)
      shown = text
    },
  }
}
