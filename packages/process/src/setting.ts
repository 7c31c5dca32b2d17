import { Config, ConfigProvider, Effect } from "effect"

/** How a setting's text is read. */
export interface SettingForm<A> {
  /** What a good value is, to follow "must be": `a port from 0 to 65535`. */
  readonly expected: string
  /** Reads the text; undefined when it is malformed. A `RangeError` may say what is wrong, in words that hold no secret. */
  readonly parse: (text: string) => A | undefined
  /** The text that stands in for a missing one; without it the setting is required. */
  readonly default?: string
}

/**
 * Reads one setting from the environment.
 *
 * A missing required setting, or a malformed one, fails with a sentence that names it and never repeats its value, which may
 * be a secret. An empty text counts as missing.
 */
export const setting = <A>(name: string, form: SettingForm<A>): Config.Config<A> =>
  Config.String(name).pipe(
    Config.withDefault(""),
    Config.mapEffect((given) => {
      const text = given === "" ? form.default : given
      if (text === undefined) return Effect.fail(refusal(`${name} is not set. It must be ${form.expected}.`))
      const value = read(form, text)
      if (value === undefined) return Effect.fail(refusal(`${name} is malformed. It must be ${form.expected}.`))
      return value instanceof RangeError
        ? Effect.fail(refusal(`${name} is malformed: ${value.message}. It must be ${form.expected}.`))
        : Effect.succeed(value)
    }),
  )

const read = <A>(form: SettingForm<A>, text: string): A | RangeError | undefined => {
  try {
    return form.parse(text)
  } catch (error) {
    if (error instanceof RangeError) return error
    throw error
  }
}

/** Refuses to start, with a sentence that names the setting and never its value. */
const refusal = (message: string) => new Config.ConfigError(new ConfigProvider.SourceError({ message }))
