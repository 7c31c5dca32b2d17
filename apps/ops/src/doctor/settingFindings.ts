import { type Finding, failed, ok, warning } from "@outreach/domain/operators/Finding"
import { type Config, ConfigProvider, Effect, Result } from "effect"

/** Texts that required settings accept, to read on after one that is missing or malformed. */
const SUBSTITUTES: Readonly<Record<string, string>> = {
  DATABASE_URL: "postgres://localhost/",
  SECRETS_KEY: Buffer.alloc(32).toString("base64"),
  CURSOR_KEY: Buffer.alloc(32).toString("base64"),
  SMTP_URL: "smtp://localhost",
  MAIL_FROM: "postmaster@localhost",
}

/** Texts that stand in examples for a value of one's own. */
const PLACEHOLDER =
  /…|<[^>@]*>|change[-_ ]?me|replace[-_ ]?(?:me|this)|\byour[-_]|\bexample\.(?:com|net|org|test)\b|\.example\b/i

/** A key that somebody typed repeats its bytes. */
const MIN_DISTINCT_BYTES = 12

/** Reads the settings of a process as the process does, and goes on after each that is wrong. */
export const settingFindings = Effect.fnUntraced(function* (
  process: string,
  settings: Effect.Effect<unknown, Config.ConfigError>,
) {
  const environment = yield* ConfigProvider.ConfigProvider
  const read = new Set<string>()
  const replaced = new Map<string, string>()
  const provider = ConfigProvider.make((path) => {
    const name = path.join("_")
    read.add(name)
    const text = replaced.get(name)
    return text === undefined ? environment.load(path) : Effect.succeed(ConfigProvider.makeValue(text))
  })
  const findings: Array<Finding> = []
  while (true) {
    const result = yield* settings.pipe(Effect.provideService(ConfigProvider.ConfigProvider, provider), Effect.result)
    if (Result.isSuccess(result)) break
    const { message } = result.failure.cause as Error
    findings.push(
      /^\w+ is not set\./.test(message)
        ? warning(message, `The ${process} would not start with this environment.`)
        : failed(message, `The ${process} does not start; correct the setting.`),
    )
    // Each sentence names the setting before anything else in capitals.
    const name = /[A-Z][A-Z0-9_]{2,}/.exec(message)?.[0].replace(/_FILE$/, "")
    if (name === undefined || replaced.has(name)) break
    replaced.set(name, SUBSTITUTES[name] ?? "").set(`${name}_FILE`, "")
  }
  const texts = yield* Effect.forEach([...read], (name) =>
    Effect.orElseSucceed(environment.load([name]), () => undefined).pipe(
      Effect.map((node) => ({ name, text: node?._tag === "Value" ? node.value : "" })),
    ),
  )
  const present = texts.filter(({ text }) => text !== "")
  findings.push(
    ...present
      .filter(({ text }) => PLACEHOLDER.test(text))
      .map(({ name }) => warning(`${name} looks like a placeholder.`, "Set your own value.")),
    ...present
      .filter(({ name, text }) => /^(?:SECRETS|CURSOR)_KEY$/.test(name) && isTyped(text))
      .map(({ name }) => warning(`${name} does not look random.`, "Make one with `openssl rand -base64 32`.")),
  )
  if (findings.length > 0) return findings
  return [ok(`The ${process} accepts its ${read.size} settings, of which ${present.length} are set.`)]
})

const isTyped = (text: string): boolean =>
  new Set(Buffer.from(text.slice(text.lastIndexOf(":") + 1), "base64")).size < MIN_DISTINCT_BYTES
