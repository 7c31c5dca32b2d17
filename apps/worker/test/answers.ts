import { readFileSync } from "node:fs"
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http"
import { createServer as createTlsServer } from "node:https"
import { createServer as createTcpServer, type Socket } from "node:net"
import { CLOSED_ADDRESS, listen } from "@outreach/testing/listen"

const read = (name: string) => readFileSync(new URL(`data/${name}.pem`, import.meta.url))

const http = async (listener: RequestListener) => `http://127.0.0.1:${await listen(createServer(listener))}/`
const tcp = async (onSocket: (socket: Socket) => void) =>
  `127.0.0.1:${await listen(createTcpServer((socket) => onSocket(socket.resume())))}/`

const pour = (response: ServerResponse): void => {
  const write = () => {
    while (!response.destroyed && response.write("x".repeat(1000))) {}
  }
  response.on("drain", write)
  write()
}

/** A partner that answers every request with a status; answers its address. */
export const status = (
  code: number,
  headers: Record<string, string> = {},
  seen: (request: IncomingMessage) => void = () => {},
) =>
  http((request, response) => {
    seen(request)
    request.resume().on("end", () => response.writeHead(code, headers).end())
  })

/** A partner that answers its first delivery with a status, at every attempt, and accepts all others. */
export const statusForFirst = (code: number, headers: Record<string, string> = {}) => {
  let first: unknown
  return http((request, response) => {
    const id = request.headers["x-delivery-id"]
    first ??= id
    request.resume().on("end", () => (id === first ? response.writeHead(code, headers) : response).end())
  })
}

/** A partner whose response has a status, and a body without end. */
export const endless = (code: number) =>
  http((request, response) => {
    request.resume()
    pour(response.writeHead(code))
  })

/** Partners who send the headers of a 200 and then no whole body. */
export const brokenBody: Readonly<Record<string, () => Promise<string>>> = {
  "200, cut off": () => afterHeaders("Content-Length: 100\r\n\r\nabc", (socket) => socket.end()),
  "200, malformed": () => afterHeaders("Transfer-Encoding: chunked\r\n\r\nno chunk\r\n", (socket) => socket.end()),
  "200, silent": () => afterHeaders("Content-Length: 100\r\n\r\n", () => {}),
}

const afterHeaders = async (rest: string, next: (socket: Socket) => void) =>
  `http://${await tcp((socket) =>
    socket.once("data", () => {
      socket.write(`HTTP/1.1 200 OK\r\n${rest}`)
      next(socket)
    }),
  )}`

/** Partners from which no headers come, by the outcome. Timeouts are left out: they would take real time at each attempt. */
export const noAnswer: Readonly<Record<string, () => Promise<string>>> = {
  refused: async () => `http://${CLOSED_ADDRESS}/`,
  reset: async () => `http://${await tcp((socket) => socket.once("data", () => socket.resetAndDestroy()))}`,
  unresolved_name: async () => "http://partner.invalid/",
  tls: async () => {
    const server = createTlsServer({ key: read("key"), cert: read("certificate") }, (_, response) => response.end())
    return `https://localhost:${await listen(server)}/`
  },
  unknown: async () => `http://${await tcp((socket) => socket.once("data", () => socket.end("220 hello\r\n")))}`,
}
