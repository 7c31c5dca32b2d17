import { PgTypes } from "@effect/sql-pg"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Result } from "effect"

/** Milliseconds from the Unix epoch to PostgreSQL's, 2000-01-01. */
const EPOCH_MS = 946_684_800_000n

/** Reads `timestamptz` as a text with microseconds, where the driver's own codec gives a `Date` without them. Texts bind as they are. */
export const timestampCodec: PgTypes.Codec<Timestamp> = {
  encode: () => Result.fail(new PgTypes.CodecError({ message: "bind timestamps as text" })),
  decode: (bytes) => Result.succeed(read(bytes, 0)),
  read: (bytes, offset) => Result.succeed(read(bytes, offset)),
}

const read = (bytes: Uint8Array, offset: number): Timestamp => {
  const micros = new DataView(bytes.buffer, bytes.byteOffset + offset, 8).getBigInt64(0)
  // Floor division, so that instants before 2000 keep their digits.
  const within = ((micros % 1000n) + 1000n) % 1000n
  const millis = Number((micros - within) / 1000n + EPOCH_MS)
  return `${new Date(millis).toISOString().slice(0, -1)}${String(within).padStart(3, "0")}Z` as Timestamp
}
