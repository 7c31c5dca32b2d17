import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http"
import { createServer as createTlsServer } from "node:https"
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net"
import { listen } from "./listen.ts"

const read = (name: string) => readFileSync(new URL(`data/${name}.pem`, import.meta.url))

const http = async (listener: RequestListener) => `http://127.0.0.1:${await listen(createServer(listener))}/`
const tcp = async (onSocket: (socket: Socket) => void) =>
  `127.0.0.1:${await listen(createTcpServer((socket) => onSocket(socket.resume())))}/`

const closedPort = async () => {
  const server = createTcpServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, "close")
  return `http://127.0.0.1:${port}/`
}

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

/** A partner whose response has a status, and a body without end. */
export const endless = (code: number) =>
  http((request, response) => {
    request.resume()
    pour(response.writeHead(code))
  })

/** Partners from which no whole answer comes, by what that is called. */
export const noAnswer: Readonly<Record<string, () => Promise<string>>> = {
  refused: closedPort,
  reset: async () => `http://${await tcp((socket) => socket.once("data", () => socket.resetAndDestroy()))}`,
  "reset, in the body": async () =>
    `http://${await tcp((socket) => socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")))}`,
  dns: async () => "http://partner.invalid/",
  tls: async () => {
    const server = createTlsServer({ key: read("key"), cert: read("certificate") }, (_, response) => response.end())
    return `https://localhost:${await listen(server)}/`
  },
  connect_timeout: async () => `https://${await tcp(() => {})}`,
  headers_timeout: async () => `http://${await tcp(() => {})}`,
  body_timeout: () => http((_, response) => response.writeHead(200).flushHeaders()),
  deadline: () =>
    http((_, response) => {
      const timer = setInterval(() => response.write("."), 10)
      response.on("close", () => clearInterval(timer))
    }),
  unknown: async () => `http://${await tcp((socket) => socket.once("data", () => socket.end("220 hello\r\n")))}`,
}
