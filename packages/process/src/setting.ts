import { expectedBy, parseInput } from "@outreach/domain/parseInput"
import { Config, ConfigProvider, Effect, Result, type Schema } from "effect"
import { readSmallFile } from "./readSmallFile.ts"

// For packages that read settings and do not know the domain.
export { textSchema, wholeNumber } from "@outreach/domain/textSchema"

interface Options {
  /** What it means and in which unit, as docs/settings.md says it. */
  readonly about: string
  /** Without a default and without `otherwise`, the setting is required. */
  readonly default?: string
  /** What applies without the setting, in words; its value is null then. */
  readonly otherwise?: string
  /** Whether every deployment should consider it, although it has a default. */
  readonly isAdvised?: true
}

/** A setting as a module declares it, for documents and checks. */
export interface DeclaredSetting extends Omit<Options, "default"> {
  readonly default?: string | Readonly<Record<string, string>>
  /** Describes a valid text, to follow "must be". */
  readonly expected: string
  /** Whether `<name>_FILE` may name a file that holds it. */
  readonly isSecret: boolean
}

const declared = new Map<string, DeclaredSetting>()

/** The settings that the modules of this process have declared so far, by name. */
export const declaredSettings: ReadonlyMap<string, DeclaredSetting> = declared

type Value<A, O> = O extends { readonly otherwise: string } ? A | null : A

/**
 * Declares a setting, and reads it from the environment by a schema of its text.
 *
 * A missing required setting or a malformed one fails with a sentence that names the setting. The sentence never repeats the
 * value, which may be a secret. An empty text counts as missing.
 */
export const setting = <A, O extends Options>(
  name: string,
  schema: Schema.Codec<A, string>,
  options: O,
): Config.Config<Value<A, O>> => declare(name, schema, options, false)

/** Declares a secret, and reads it from the environment, or from the file that `<name>_FILE` names, less a line break at its end. */
export const secretSetting = <A, O extends Options>(
  name: string,
  schema: Schema.Codec<A, string>,
  options: O,
): Config.Config<Value<A, O>> => declare(name, schema, options, true)

/** Declares a setting whose default depends on the process that reads it. */
export const settingByProcess = <A, const P extends string>(
  name: string,
  schema: Schema.Codec<A, string>,
  options: Omit<Options, "default" | "otherwise"> & { readonly default: Readonly<Record<P, string>> },
): ((process: P) => Config.Config<A>) => {
  declared.set(name, { isSecret: false, expected: expectedBy(schema), ...options })
  return (process) => reading(name, schema, { about: options.about, default: options.default[process] })
}

/** Reads the text of a declared setting as it is given; empty where it is not. */
export const settingText = (name: string): Config.Config<string> => Config.map(given(name), ({ text }) => text)

export const isSet = (name: string): Config.Config<boolean> => Config.map(settingText(name), (text) => text !== "")

/** Reads what depends on a declared setting where that is set; else null. */
export const whereSet = <A>(name: string, config: Config.Config<A>): Config.Config<A | null> =>
  Config.flatMap(isSet(name), (set) => (set ? config : Config.succeed(null)))

const declare = <A, O extends Options>(
  name: string,
  schema: Schema.Codec<A, string>,
  options: O,
  isSecret: boolean,
) => {
  declared.set(name, { isSecret, expected: expectedBy(schema), ...options })
  return reading(name, schema, options)
}

const reading = <A, O extends Options>(name: string, schema: Schema.Codec<A, string>, options: O) =>
  Config.mapEffect(given(name), ({ source, text }): Effect.Effect<Value<A, O>, Config.ConfigError> => {
    const known = text || options.default
    if (known === undefined) {
      if (options.otherwise !== undefined) return Effect.succeed(null as Value<A, O>)
      return configError(`${source} is ${source === name ? "not set" : "empty"}. It must be ${expectedBy(schema)}.`)
    }
    const parsed = parseInput(schema)(known)
    if (Result.isSuccess(parsed)) return Effect.succeed(parsed.success as Value<A, O>)
    const { expected, reason } = parsed.failure
    return configError(`${source} is malformed${reason && `: ${reason}`}. It must be ${expected}.`)
  })

const textOf = (name: string) => Config.String(name).pipe(Config.withDefault(""))

/** Reads the text of a setting, and says where it stands. */
const given = (name: string): Config.Config<{ readonly source: string; readonly text: string }> =>
  declared.get(name)?.isSecret === true
    ? Config.mapEffect(
        Config.all([textOf(name), textOf(`${name}_FILE`)]),
        Effect.fnUntraced(function* ([text, path]) {
          if (path === "") return { source: name, text }
          if (text !== "") return yield* configError(`${name} and ${name}_FILE are both set; set one of them.`)
          const content = readSmallFile(path)
          if (Result.isFailure(content)) return yield* configError(`The file of ${name}_FILE ${content.failure}.`)
          return { source: `The content of ${name}_FILE`, text: content.success.replace(/\r?\n$/, "") }
        }),
      )
    : Config.map(textOf(name), (text) => ({ source: name, text }))

/** Fails with a sentence that stops the process. */
export const configError = (message: string) =>
  Effect.fail(new Config.ConfigError(new ConfigProvider.SourceError({ message })))
