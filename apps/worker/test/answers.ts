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

/** Starts a partner that returns a status with an endless body. */
export const endless = (code: number) =>
  http((request, response) => {
    request.resume()
    pour(response.writeHead(code))
  })

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
