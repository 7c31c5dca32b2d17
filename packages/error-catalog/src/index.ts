export type { CatalogError, CatalogErrors, Occurrence } from "./CatalogError.ts"
export { defineCatalog } from "./defineCatalog.ts"
export type { Envelope, ReadError, WrittenError } from "./Envelope.ts"
export type {
  CatalogOptions,
  ErrorCatalog,
  ErrorCode,
  ErrorCodes,
  ErrorResponse,
  ErrorTypes,
  Retry,
} from "./ErrorCatalog.ts"
export type { ParsedError, ResponseHead } from "./parse.ts"
export type { InputOf, JsonSchema, OutputOf, StandardSchema } from "./StandardSchema.ts"
