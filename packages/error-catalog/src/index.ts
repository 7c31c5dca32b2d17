export {
  defineCatalog,
  type ErrorCatalog,
  type ErrorCodes,
  type ErrorTypeDefinition,
  type ErrorTypes,
  type Retryability,
} from "./defineCatalog.ts"
export type {
  DetailKind,
  EnvelopeOptions,
  ErrorCodeDefinition,
  ErrorDetails,
  ErrorEnvelope,
} from "./envelope.ts"
export {
  type LegacyEnvelope,
  type LegacyErrorCode,
  type LegacyErrorItem,
  legacyCodes,
  legacyEnvelope,
} from "./legacyEnvelope.ts"
export { type PartnerErrorCode, type PartnerErrorType, partnerCatalog } from "./partnerCatalog.ts"
