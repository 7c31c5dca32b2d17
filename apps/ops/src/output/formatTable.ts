import { CliOutput } from "effect/cli"

/** Formats rows in aligned columns, without lines or colours, so that `awk` can read them. */
export const formatTable = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const lines = head.length === 0 ? rows : [head, ...rows]
  const widths = lines.reduce<ReadonlyArray<number>>(
    (widest, cells) => cells.map((cell, column) => Math.max(widest[column] ?? 0, widthOf(cell))),
    [],
  )
  const pad = (cell: string, column: number) => cell + " ".repeat(widths[column]! - widthOf(cell))
  return lines.map((cells) => cells.map(pad).join("  ").trimEnd()).join("\n")
}

// Measuring graphemes takes a hundred times as long, and few cells need it.
const widthOf = (text: string): number => (/^[ -~]*$/.test(text) ? text.length : CliOutput.displayWidth(text))
