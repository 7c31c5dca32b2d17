export { CursorError, type CursorErrorCode } from "./CursorError.ts"
export type { StandardResult, StandardSchemaV1 } from "./cursorCodec.ts"
export { type CursorCodec, type CursorCodecOptions, cursorCodec } from "./cursorCodec.ts"
export { type CursorKey, type CursorKeyRing, cursorKeyRing, type PreparedKey } from "./cursorKeyRing.ts"
