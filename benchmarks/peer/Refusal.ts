/** Why a request gets no answer; Fastify's error handler makes the envelope of it. */
export class Refusal extends Error {
  readonly statusCode: number
  readonly type: string
  readonly code: string
  readonly parameter: string | undefined

  constructor(statusCode: number, type: string, code: string, message: string, parameter?: string) {
    super(message)
    this.statusCode = statusCode
    this.type = type
    this.code = code
    this.parameter = parameter
  }
}

/** A parameter that cannot be used. */
export const badParameter = (parameter: string, message: string, code = "INVALID_PARAMETER"): Refusal =>
  new Refusal(400, "invalid_request_error", code, `${parameter}: ${message}`, parameter)
