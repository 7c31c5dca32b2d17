import { Config, ConfigProvider, Effect } from "effect"

/** The format of a setting's text. */
export interface SettingForm<A> {
  /** Describes a valid value, to follow "must be": `a port from 0 to 65535`. */
  readonly expected: string
  /** Parses the text; undefined if it is malformed. May throw a `RangeError` with the reason, which must not hold a secret. */
  readonly parse: (text: string) => A | undefined
  /** The text to use if the setting is missing. Without a default the setting is required. */
  readonly default?: string
}

/**
 * Reads one setting from the environment.
 *
 * A missing required setting or a malformed one fails with a sentence that names the setting. The sentence never repeats the
 * value, which may be a secret. An empty text counts as missing.
 */
export const setting = <A>(name: string, form: SettingForm<A>): Config.Config<A> =>
  Config.String(name).pipe(
    Config.withDefault(""),
    Config.mapEffect((configured) => {
      const text = configured === "" ? form.default : configured
      if (text === undefined) return Effect.fail(configError(`${name} is not set. It must be ${form.expected}.`))
      const value = parse(form, text)
      if (value === undefined) return Effect.fail(configError(`${name} is malformed. It must be ${form.expected}.`))
      return value instanceof RangeError
        ? Effect.fail(configError(`${name} is malformed: ${value.message}. It must be ${form.expected}.`))
        : Effect.succeed(value)
    }),
  )

const parse = <A>(form: SettingForm<A>, text: string): A | RangeError | undefined => {
  try {
    return form.parse(text)
  } catch (error) {
    if (error instanceof RangeError) return error
    throw error
  }
}

const configError = (message: string) => new Config.ConfigError(new ConfigProvider.SourceError({ message }))
