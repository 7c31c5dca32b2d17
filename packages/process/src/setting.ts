import { readFileSync, statSync } from "node:fs"
import { expectedBy, parseInput } from "@outreach/domain/textSchema"
import { Config, ConfigProvider, Context, Effect, Result, type Schema } from "effect"

// For packages that read settings without depending on the domain.
export { textSchema, wholeNumber } from "@outreach/domain/textSchema"

interface Options {
  /** Meaning and unit, as shown in docs/settings.md. */
  readonly about: string
  /** Without a default and `otherwise`, the setting is required. */
  readonly default?: string
  /** Describes the behavior without the setting; its value is null then. */
  readonly otherwise?: string
  /** Whether every deployment should consider it despite its default. */
  readonly isAdvised?: true
}

/** A declared setting, for documents and checks. */
export interface Declaration extends Omit<Options, "default"> {
  readonly name: string
  readonly default?: string | Readonly<Record<string, string>>
  /** Describes valid text, following "must be". */
  readonly expected: string
  /** Whether `<name>_FILE` may point to a file with the value. */
  readonly isSecret: boolean
}

/** A setting that can be read from the environment. */
export interface Setting<A> extends Config.Config<A> {
  readonly declaration: Declaration
}

type Value<A, O> = O extends { readonly otherwise: string } ? A | null : A

/** Receives the declaration of each setting that is read. Default: no effect. */
const OnRead = Context.Reference<(declaration: Declaration) => void>("process/setting/OnRead", {
  defaultValue: () => () => {},
})

/** Runs an effect. Returns its result with the declarations of the settings that it read, by name. */
export const collectSettings = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<readonly [A, ReadonlyMap<string, Declaration>], E, R> =>
  Effect.suspend(() => {
    const declarations = new Map<string, Declaration>()
    return effect.pipe(
      Effect.provideService(OnRead, (declaration) => void declarations.set(declaration.name, declaration)),
      Effect.map((result) => [result, declarations]),
    )
  })

/**
 * Declares a setting that is read from the environment and parsed by a schema.
 *
 * A missing or invalid setting fails with a message that names the setting but doesn't quote the
 * value, which may be a secret. Empty text counts as missing.
 */
export const setting = <A, O extends Options>(
  name: string,
  schema: Schema.Codec<A, string>,
  options: O,
): Setting<Value<A, O>> => reading(schema, { name, isSecret: false, ...options }, options)

/** Declares a secret, read from the environment or from the file in `<name>_FILE`, without a trailing line break. */
export const secretSetting = <A, O extends Options>(
  name: string,
  schema: Schema.Codec<A, string>,
  options: O,
): Setting<Value<A, O>> => reading(schema, { name, isSecret: true, ...options }, options)

/** Declares a setting with a default that depends on the process. */
export const settingByProcess =
  <A, const P extends string>(
    name: string,
    schema: Schema.Codec<A, string>,
    options: Omit<Options, "default" | "otherwise"> & { readonly default: Readonly<Record<P, string>> },
  ): ((process: P) => Setting<A>) =>
  (process) =>
    reading(schema, { name, isSecret: false, ...options }, { ...options, default: options.default[process] })

/** Returns whether a setting is set. */
export const isSet = ({ declaration }: Setting<unknown>): Config.Config<boolean> =>
  Config.map(readText(declaration), ({ text }) => text !== "")

/** Reads a config, or the setting itself, if the setting is set; otherwise null. */
export function whereSet<A>(setting: Setting<A>): Config.Config<A | null>
export function whereSet<A>(setting: Setting<unknown>, config: Config.Config<A>): Config.Config<A | null>
export function whereSet(setting: Setting<unknown>, config: Config.Config<unknown> = setting): Config.Config<unknown> {
  return Config.flatMap(isSet(setting), (set) => (set ? config : Config.succeed(null)))
}

const reading = <A, O extends Options>(
  schema: Schema.Codec<A, string>,
  declared: Omit<Declaration, "expected">,
  options: O,
): Setting<Value<A, O>> => {
  const declaration = { ...declared, expected: expectedBy(schema) }
  return Object.assign(
    Config.mapEffect(
      readText(declaration),
      Effect.fnUntraced(function* ({ source, text }) {
        const onRead = yield* OnRead
        onRead(declaration)
        const known = text || options.default
        if (known === undefined) {
          if (options.otherwise !== undefined) return null as Value<A, O>
          const state = source === declaration.name ? "not set" : "empty"
          return yield* configError(`${source} is ${state}. It must be ${declaration.expected}.`)
        }
        const parsed = parseInput(schema)(known)
        if (Result.isSuccess(parsed)) return parsed.success as Value<A, O>
        const { expected, reason } = parsed.failure
        return yield* configError(`${source} is malformed${reason && `: ${reason}`}. It must be ${expected}.`)
      }),
    ),
    { declaration },
  )
}

const textOf = (name: string) => Config.String(name).pipe(Config.withDefault(""))

/** Reads the text of a setting and its origin, for messages. */
const readText = ({
  name,
  isSecret,
}: Declaration): Config.Config<{ readonly source: string; readonly text: string }> =>
  isSecret
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

/** Fails with a message that stops the process. */
export const configError = (message: string) =>
  Effect.fail(new Config.ConfigError(new ConfigProvider.SourceError({ message })))

const MAX_FILE_BYTES = 65_536

/** Reads a settings file as UTF-8. Fails with a description that doesn't quote the content. */
const readSmallFile = (path: string): Result.Result<string, string> => {
  try {
    const stats = statSync(path)
    if (!stats.isFile()) return Result.fail("is not a regular file")
    if (stats.size > MAX_FILE_BYTES) return Result.fail("exceeds 64 KiB")
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(path))
    if (text.startsWith("\uFEFF")) return Result.fail("starts with a byte order mark")
    return text.includes("\0") ? Result.fail("is not a text") : Result.succeed(text)
  } catch (error) {
    if (error instanceof TypeError) return Result.fail("is not a text in UTF-8")
    const { code } = error as NodeJS.ErrnoException
    return Result.fail(code === "ENOENT" ? "does not exist" : `cannot be read (${code})`)
  }
}
