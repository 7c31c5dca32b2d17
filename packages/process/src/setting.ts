import { expectedBy, parseInput } from "@outreach/domain/parseInput"
import { Config, ConfigProvider, Effect, Result, type Schema } from "effect"

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
  Config.String(name).pipe(
    Config.withDefault(""),
    Config.mapEffect((configured) => {
      const text = configured === "" ? defaultText : configured
      if (text === undefined) return Effect.fail(configError(`${name} is not set. It must be ${expectedBy(schema)}.`))
      const parsed = parseInput(schema)(text)
      if (Result.isSuccess(parsed)) return Effect.succeed(parsed.success)
      const { expected, reason } = parsed.failure
      return Effect.fail(configError(`${name} is malformed${reason && `: ${reason}`}. It must be ${expected}.`))
    }),
  )

const configError = (message: string) => new Config.ConfigError(new ConfigProvider.SourceError({ message }))
