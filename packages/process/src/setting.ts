import { readFileSync, statSync } from "node:fs"
import { expectedBy, parseInput } from "@outreach/domain/parseInput"
import { Config, ConfigProvider, Effect, Result, type Schema } from "effect"

// For packages that read settings and do not know the domain.
export { textSchema, wholeNumber } from "@outreach/domain/textSchema"

/** The largest file of a secret, in bytes. */
const MAX_FILE_BYTES = 65_536

/**
 * Reads one setting from the environment, whose text a schema parses. Without a default the setting is required.
 *
 * A missing required setting or a malformed one fails with a sentence that names the setting. The sentence never repeats the
 * value, which may be a secret. An empty text counts as missing.
 */
export const setting = <A>(
  name: string,
  schema: Schema.Codec<A, string>,
  defaultText?: string | undefined,
): Config.Config<A> =>
  text(name).pipe(Config.mapEffect((configured) => parse(name, name, schema, configured || defaultText)))

/** Reads a setting that is a secret: from the environment, or from the file that `<name>_FILE` names, less a line break at its end. */
export const secretSetting = <A>(
  name: string,
  schema: Schema.Codec<A, string>,
  defaultText?: string | undefined,
): Config.Config<A> =>
  Config.all([text(name), text(`${name}_FILE`)]).pipe(
    Config.mapEffect(
      Effect.fnUntraced(function* ([configured, path]) {
        if (path === "") return yield* parse(name, name, schema, configured || defaultText)
        if (configured !== "") return yield* configError(`${name} and ${name}_FILE are both set; set one of them.`)
        return yield* parse(name, `The content of ${name}_FILE`, schema, yield* readSecret(name, path))
      }),
    ),
  )

const declared = new Set<string>()

/** The names of the settings that the modules of this process have declared so far. */
export const declaredSettings: ReadonlySet<string> = declared

const text = (name: string): Config.Config<string> => {
  declared.add(name)
  return Config.String(name).pipe(Config.withDefault(""))
}

const parse = <A>(name: string, source: string, schema: Schema.Codec<A, string>, given: string | undefined) => {
  if (given === undefined) return configError(`${name} is not set. It must be ${expectedBy(schema)}.`)
  const parsed = parseInput(schema)(given)
  if (Result.isSuccess(parsed)) return Effect.succeed(parsed.success)
  const { expected, reason } = parsed.failure
  return configError(`${source} is malformed${reason && `: ${reason}`}. It must be ${expected}.`)
}

const readSecret = (name: string, path: string): Effect.Effect<string, Config.ConfigError> => {
  const refuse = (problem: string) => configError(`The file of ${name}_FILE ${problem}.`)
  try {
    const stats = statSync(path)
    if (!stats.isFile()) return refuse("is not a regular file")
    if (stats.size > MAX_FILE_BYTES) return refuse("holds more than 64 KiB")
    return Effect.succeed(readFileSync(path, "utf8").replace(/\r?\n$/, ""))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return refuse(code === "ENOENT" ? "does not exist" : `cannot be read (${code})`)
  }
}

/** Fails with a sentence that stops the process. */
export const configError = (message: string) =>
  Effect.fail(new Config.ConfigError(new ConfigProvider.SourceError({ message })))
