import { clearScreenDown, cursorTo, moveCursor } from "node:readline"
import { styleText } from "node:util"
import { Effect } from "effect"
import { createLogUpdate } from "log-update"
import { type PanelLine, panel } from "./panel.ts"
import { firstWebhookParts, progressParts, type View } from "./View.ts"

/** Shows the sandbox on standard output. */
export interface Display {
  readonly show: (changes: Partial<View>) => Effect.Effect<void>
  /** Prints a text that the panel of a terminal leaves out. */
  readonly printWithoutPanel: (text: string) => Effect.Effect<void>
  /** Leaves what is shown, with the cursor below it. */
  readonly close: Effect.Effect<void>
}

/** Opens the display until the scope closes: one panel on a terminal, and else lines. The last panel stays on the screen. */
export const openDisplay = Effect.suspend(() => {
  const { CI, TERM } = process.env
  const isTerminal = process.stdout.isTTY && TERM !== "dumb" && !(CI && CI !== "false")
  return Effect.acquireRelease(Effect.sync(isTerminal ? openPanel : openLines), ({ close }) => close)
})

const openLines = (): Display => {
  let shown = ""
  let incidents: readonly string[] = []
  const print = (text: string) => void process.stdout.write(`${text}\n`)
  return {
    show: (changes) =>
      Effect.sync(() => {
        const { addresses, note, firstWebhook, progress, isStopping } = changes
        for (const { name, url, note } of addresses ?? []) print(`${name.padEnd(18)}${url}   ${note}`)
        if (note !== undefined) print(`\n${note}`)
        if (firstWebhook !== undefined) print(firstWebhookParts(firstWebhook).join(" · "))
        incidents = changes.incidents ?? incidents
        if (progress !== undefined) {
          const text = [...incidents, ...progressParts(progress)].join(" · ")
          if (text !== shown) print(text)
          shown = text
        }
        if (isStopping) print("Stopping. The same signal again ends it immediately.")
      }),
    printWithoutPanel: (text) => Effect.sync(() => print(text)),
    close: Effect.void,
  }
}

const EMPTY: View = {
  status: "starting",
  isStopping: false,
  addresses: [],
  note: undefined,
  pull: [],
  progress: undefined,
  firstWebhook: undefined,
  incidents: [],
}

/**
 * Draws the panel in place. The cursor stays visible and the terminal in its mode, so that there is nothing to restore, however the process ends.
 */
const openPanel = (): Display => {
  const { stdin, stdout, stderr } = process
  const write = stdout.write.bind(stdout)
  const terminal = {
    isTTY: true,
    write: (text: string) => write(text),
    // A terminal without a size tells 0.
    get columns() {
      return stdout.columns || 80
    },
    get rows() {
      return stdout.rows || 24
    },
  }
  const update = createLogUpdate(terminal as unknown as NodeJS.WriteStream, { showCursor: true })
  let view = EMPTY
  const stray: string[] = []
  const draw = () =>
    update(
      panel({ ...view, incidents: [...view.incidents, ...stray] }, terminal)
        .map(paint)
        .join("\n"),
    )

  // A wrapped line of another width cannot be overwritten.
  const onResize = () => {
    cursorTo(stdout, 0, 0)
    clearScreenDown(stdout)
    update.done()
    draw()
  }
  // The terminal echoes what is typed, and a new line moves the cursor.
  const onTyped = (typed: Buffer) => {
    moveCursor(stdout, 0, -typed.toString().split("\n").length + 1)
    cursorTo(stdout, 0)
    clearScreenDown(stdout)
  }
  stdout.on("resize", onResize)
  // A terminal that was closed takes no more.
  stdout.on("error", () => {})
  if (stdin.isTTY) stdin.on("data", onTyped).unref()
  // A warning of the process goes to the panel, too, because it would be written across.
  const writeOfErrors = stderr.write
  if (stderr.isTTY) {
    stderr.write = (chunk: string | Uint8Array) => {
      stray.push(...String(chunk).split("\n").filter(Boolean))
      stray.splice(0, stray.length - 1)
      draw()
      return true
    }
  }
  draw()
  return {
    show: (changes) =>
      Effect.sync(() => {
        view = { ...view, ...changes }
        draw()
      }),
    printWithoutPanel: () => Effect.void,
    close: Effect.sync(() => {
      stderr.write = writeOfErrors
      stdout.off("resize", onResize)
      if (stdin.isTTY) stdin.off("data", onTyped).pause()
      cursorTo(stdout, 0)
      clearScreenDown(stdout)
    }),
  }
}

const paint = ({ text, style }: PanelLine): string =>
  style === "none" || text === "" ? text : styleText(style, text, { stream: process.stdout })
