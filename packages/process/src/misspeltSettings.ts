import { type Config, Effect } from "effect"
import { collectSettings, type Declaration } from "./setting.ts"
import { telemetrySettings } from "./settings.ts"

/** An environment variable that isn't a setting, with the setting that it resembles. */
export interface MisspeltSetting {
  readonly name: string
  readonly similar: string
}

/** Returns the names of the environment variables of settings. */
export const variablesOf = (declarations: ReadonlyMap<string, Declaration>): ReadonlySet<string> =>
  new Set([...declarations].flatMap(([name, { isSecret }]) => (isSecret ? [name, `${name}_FILE`] : [name])))

/** Variables of other programs. */
const FOREIGN = /^(?:NODE_|NPM_|OTEL_|PG)/i

/** Returns the names that resemble a setting but aren't one. */
export const misspeltSettings = (
  names: ReadonlyArray<string>,
  settings: ReadonlySet<string>,
): ReadonlyArray<MisspeltSetting> =>
  names
    .filter((name) => !FOREIGN.test(name))
    .flatMap((name) => {
      // Extensions of a setting's name, such as DATABASE_URL_OLD, are intentional.
      if ([...settings].some((setting) => `${name}_`.startsWith(`${setting}_`))) return []
      const similar = [...settings].find((setting) => isMisspelt(name.toUpperCase(), setting))
      return similar === undefined ? [] : [{ name, similar }]
    })

/** Reads the settings of a process, and logs environment variables that resemble one, without their values. */
export const warningOfMisspelt = <A, E, R>(
  readSettings: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | Config.ConfigError, R> =>
  Effect.gen(function* () {
    const [[read], declarations] = yield* collectSettings(Effect.all([readSettings, telemetrySettings]))
    for (const misspelt of misspeltSettings(Object.keys(process.env), variablesOf(declarations))) {
      yield* Effect.annotateLogs(Effect.logWarning("unknown setting, is it misspelt?"), { ...misspelt })
    }
    return read
  })

/** Returns whether a name shares the first two words of a setting of three or more, or differs from it by typos. */
const isMisspelt = (name: string, setting: string): boolean =>
  beginsAlike(name, setting) || countSlips(name, setting) <= slipsAllowed(setting)

const beginsAlike = (name: string, setting: string): boolean => {
  const [first, second, third = "FILE"] = setting.split("_")
  return third !== "FILE" && `${name}_`.startsWith(`${first}_${second}_`)
}

/** Returns the number of typos allowed for a setting's name. Short names such as PORT resemble many words, so only swapped letters count. */
const slipsAllowed = ({ length }: string): number => (length < 6 ? 0.5 : length <= 12 ? 1 : 2)

const SWAP = 0.5

/** Counts missing, added and wrong letters between two names, and swapped letters as a half. */
const countSlips = (a: string, b: string): number => {
  if (Math.abs(a.length - b.length) > 2) return Number.POSITIVE_INFINITY
  let [before, row]: [Array<number>, Array<number>] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const mistaken = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      next[j] = Math.min(mistaken, row[j]! + 1, next[j - 1]! + 1, isSwapped ? before[j - 2]! + SWAP : mistaken)
    }
    before = row
    row = next
  }
  return row[b.length]!
}
