export type { Tolerance, VerifiedSignature, VerifyOptions } from "./claim.ts"
export { SignatureError, type SignatureErrorCode } from "./SignatureError.ts"
export { type SignOptions, sign } from "./sign.ts"
export { verify } from "./verify.ts"
