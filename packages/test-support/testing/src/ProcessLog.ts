import { ConfigProvider, Console, Layer, Metric } from "effect"
import { Changes, type LogLine, type Source } from "./until.ts"

/** The log of a process. Lines that aren't JSON are only part of its text. */
export class ProcessLog implements Source {
  readonly changes = new Changes()
  readonly lines: Array<LogLine> = []
  /** Everything that was logged. */
  text = ""
  #rest = ""
  #end: string | undefined

  /** Adds output, which may end in the middle of a line. */
  append(chunk: string): void {
    this.text += chunk
    const lines = (this.#rest + chunk).split("\n")
    this.#rest = lines.pop()!
    for (const line of lines.filter((each) => each.startsWith("{"))) {
      try {
        const { message, level, annotations = {} } = JSON.parse(line)
        this.lines.push({ message: [message].flat().join(" "), level, annotations })
      } catch {}
    }
    this.changes.announce()
  }

  /** Records that the process ended, so that waiting tests fail. */
  end(reason: string): void {
    this.#end = reason
    this.changes.announce()
  }

  /** What an app in a test's process needs in place of a process: its environment, this log, and counters of its own. */
  surroundings(env: Readonly<Record<string, string>>) {
    const console = { ...globalThis.console, log: (line: string) => this.append(`${line}\n`) }
    return Layer.mergeAll(
      ConfigProvider.layer(ConfigProvider.fromEnv({ env: { ...env } })),
      Layer.succeed(Console.Console, console as Console.Console),
      Layer.sync(Metric.MetricRegistry, () => new Map()),
    )
  }

  over(): string | undefined {
    return this.#end && `${this.#end}\n${this.text.slice(-2000)}`
  }
}
