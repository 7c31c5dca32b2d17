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

/** Starts a partner that returns a status to every request. Returns its URL. */
export const status = (
  code: number,
  headers: Record<string, string> = {},
  seen: (request: IncomingMessage) => void = () => {},
) =>
  http((request, response) => {
    seen(request)
    request.resume().on("end", () => response.writeHead(code, headers).end())
  })

/** Starts a partner that returns a status to each attempt of its first delivery, and accepts all later deliveries. */
export const statusForFirst = (code: number, headers: Record<string, string> = {}) => {
  let first: unknown
  return http((request, response) => {
    const id = request.headers["x-delivery-id"]
    first ??= id
    request.resume().on("end", () => (id === first ? response.writeHead(code, headers) : response).end())
  })
}

/** Starts a partner that returns a status with an endless body. */
export const endless = (code: number) =>
  http((request, response) => {
    request.resume()
    pour(response.writeHead(code))
  })

/** Partners that send the headers of a 200 without a complete body. */
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

/** Partners that send no headers, by outcome. Timeouts are excluded, because each attempt would take real time. */
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
