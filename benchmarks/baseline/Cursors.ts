import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto"
import { badParameter } from "./RequestError.ts"

/** The last row that was read. */
export interface Position {
  readonly at: string
  readonly id: string
}

/** Signs positions in a list. A signature is bound to the list's name, its organization and its `since`. */
export class Cursors {
  readonly #key: KeyObject

  constructor(key: Buffer) {
    this.#key = createSecretKey(key)
  }

  encode({ at, id }: Position, scope: string): string {
    const payload = `${at} ${id}`
    return Buffer.concat([this.#mac(scope, payload), Buffer.from(payload)]).toString("base64url")
  }

  decode(cursor: string, scope: string): Position {
    const bytes = Buffer.from(cursor, "base64url")
    const payload = bytes.toString("utf8", 32)
    if (bytes.length < 33 || !timingSafeEqual(bytes.subarray(0, 32), this.#mac(scope, payload))) {
      throw badParameter("cursor", "is not a next_cursor of this list")
    }
    const [at = "", id = ""] = payload.split(" ")
    return { at, id }
  }

  #mac(scope: string, payload: string): Buffer {
    return createHmac("sha256", this.#key).update(`${scope}\n${payload}`).digest()
  }
}
