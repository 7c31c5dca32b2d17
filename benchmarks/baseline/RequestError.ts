/** The error of a request, which Fastify's error handler turns into the response. */
export class RequestError extends Error {
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

/** Creates the error of an invalid parameter. */
export const badParameter = (parameter: string, message: string, code = "INVALID_PARAMETER"): RequestError =>
  new RequestError(400, "invalid_request_error", code, `${parameter}: ${message}`, parameter)
