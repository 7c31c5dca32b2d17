import * as PgTypes from "@effect/sql-pg/PgTypes"
import { Result } from "effect"

/** Decodes `timestamptz` as text with microseconds; the driver's codec returns a `Date` without them. Text is bound unchanged. */
export const timestampCodec: PgTypes.Codec<string> = {
  encode: () => Result.fail(new PgTypes.CodecError({ message: "bind timestamps as text" })),
  decode: (bytes) => Result.succeed(read(bytes, 0)),
  read: (bytes, offset) => Result.succeed(read(bytes, offset)),
}

const DAY_MICROS = 86_400_000_000

// A page of a list has about four hundred timestamps: digit tables take half the time of a Date, and a quarter of a BigInt.
const digits = (length: number, after: string): ReadonlyArray<string> =>
  Array.from({ length }, (_, n) => `${String(n).padStart(String(length - 1).length, "0")}${after}`)
const HOURS = digits(24, ":")
const MINUTES = digits(60, ":")
const SECONDS = digits(60, ".")
const MILLIS = digits(1000, "")
const MICROS = digits(1000, "Z")

const read = (bytes: Uint8Array, offset: number): string => {
  // PostgreSQL counts microseconds from 2000-01-01; a double is exact for 285 years around it.
  const micros = int32(bytes, offset) * 2 ** 32 + (int32(bytes, offset + 4) >>> 0)
  if (!Number.isSafeInteger(micros)) {
    return readFar(new DataView(bytes.buffer, bytes.byteOffset + offset, 8).getBigInt64(0))
  }
  const day = Math.floor(micros / DAY_MICROS)
  const within = micros - day * DAY_MICROS
  const millis = Math.floor(within / 1000)
  const seconds = Math.floor(millis / 1000)
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  return (
    dateOf(day) +
    HOURS[hours] +
    MINUTES[minutes - hours * 60] +
    SECONDS[seconds - minutes * 60] +
    MILLIS[millis - seconds * 1000] +
    MICROS[within - millis * 1000]
  )
}

const int32 = (bytes: Uint8Array, at: number): number =>
  (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!

/** Days from the Unix epoch to PostgreSQL's. */
const EPOCH_DAYS = 10_957

// The dates of a page are close together: those within two months have separate slots.
const PLACES = 64
const dates: Array<{ readonly day: number; readonly text: string }> = []

const dateOf = (day: number): string => {
  const place = day & (PLACES - 1)
  const kept = dates[place]
  if (kept?.day === day) return kept.text
  const text = new Date((day + EPOCH_DAYS) * 86_400_000).toISOString().slice(0, 11)
  dates[place] = { day, text }
  return text
}

const readFar = (micros: bigint): string => {
  // Floor division, so that times before 2000 keep their digits.
  const within = ((micros % 1000n) + 1000n) % 1000n
  const millis = Number((micros - within) / 1000n) + EPOCH_DAYS * 86_400_000
  return `${new Date(millis).toISOString().slice(0, -1)}${String(within).padStart(3, "0")}Z`
}
