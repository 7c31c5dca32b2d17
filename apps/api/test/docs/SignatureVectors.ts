/** Content of `/docs/signature-vectors.json`. */
export interface SignatureVectors {
  readonly about: string
  readonly tolerance: number
  readonly cases: ReadonlyArray<SignatureCase>
}

export interface SignatureCase {
  readonly name: string
  readonly headers: { readonly "X-Signature"?: string }
  readonly body_base64: string
  readonly secrets: ReadonlyArray<string>
  readonly now: number
  readonly expected: "accepted" | "refused"
  readonly code?: string
}
