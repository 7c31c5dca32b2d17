import { firstWebhookParts, progressParts, type View } from "./View.ts"

/** As many as a terminal of 24 lines shows, because the cursor stands below them. */
const MAX_LINES = 23
const MAX_COLUMNS = 80
const MAX_INCIDENTS = 3

export interface PanelLine {
  readonly text: string
  readonly style: "bold" | "dim" | "red" | "none"
}

/** Draws the panel for a terminal of a size. Where that is small, the least important lines are left out, and long ones are cut. */
export const panel = (
  view: View,
  terminal: { readonly columns: number; readonly rows: number },
): readonly PanelLine[] => {
  const width = Math.min(MAX_COLUMNS, terminal.columns)
  const height = Math.max(1, Math.min(MAX_LINES, terminal.rows - 1))
  const all = drawLines(view, width)
  const kept = new Set(
    all
      .map(({ importance }, index) => ({ importance, index }))
      .sort((one, other) => other.importance - one.importance || one.index - other.index)
      .slice(0, height)
      .map(({ index }) => index),
  )
  return all.flatMap(({ text, style }, index) => (kept.has(index) ? [{ text: cut(text, width), style }] : []))
}

/** How much a line matters on a terminal that does not show all. */
const IMPORTANCE = {
  blank: 0,
  example: 1,
  note: 2,
  explained: 3,
  first: 4,
  campaign: 5,
  title: 6,
  end: 7,
  address: 8,
  incident: 9,
}

type DrawnLine = PanelLine & { readonly importance: number }

const line = (importance: keyof typeof IMPORTANCE, text: string, style: PanelLine["style"] = "none"): DrawnLine => ({
  text,
  style,
  importance: IMPORTANCE[importance],
})

const drawLines = (view: View, width: number): readonly DrawnLine[] => {
  const flowing = (importance: keyof typeof IMPORTANCE, parts: readonly string[], style?: PanelLine["style"]) =>
    flow(parts, width, " · ").map((text) => line(importance, text, style))
  return [
    line("title", `Outreach sandbox: ${view.status}`, "bold"),
    line("blank", ""),
    ...view.addresses.flatMap(({ name, url, note }) => {
      const short = `${name.padEnd(16)}${url}`
      return short.length <= width
        ? [line("address", short.length + note.length + 2 <= width ? `${short}  ${note}` : short)]
        : [line("explained", `${name}, ${note}`), line("address", url)]
    }),
    line("blank", ""),
    ...(view.progress === undefined ? [] : flowing("campaign", progressParts(view.progress), "bold")),
    ...(view.firstWebhook === undefined ? [] : flowing("first", firstWebhookParts(view.firstWebhook))),
    ...flow(view.note?.split(" ") ?? [], width, " ").map((text) => line("note", text)),
    line("blank", ""),
    ...view.pull.map((text) => line("example", text, "dim")),
    ...view.incidents.slice(-MAX_INCIDENTS).map((text) => line("incident", text, "red")),
    line("blank", ""),
    line(
      "end",
      view.isStopping
        ? "Stopping; the data is kept. Ctrl-C again ends it immediately."
        : "Ctrl-C stops everything in order, and keeps the data for the next start.",
    ),
  ]
}

/** Distributes parts over lines of a width. */
const flow = (parts: readonly string[], width: number, separator: string): readonly string[] => {
  const lines: string[] = []
  for (const part of parts) {
    const longer = lines.length === 0 ? part : `${lines.at(-1)}${separator}${part}`
    if (lines.length === 0 || longer.length > width) lines.push(part)
    else lines[lines.length - 1] = longer
  }
  return lines
}

const cut = (text: string, width: number): string => {
  // Control characters would move the cursor, or turn the text around.
  const plain = text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ")
  return plain.length <= width ? plain : `${plain.slice(0, Math.max(0, width - 1))}…`
}
