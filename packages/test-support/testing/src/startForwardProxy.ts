import { createServer, type RequestListener } from "node:http"
import { createServer as createTlsServer, type ServerOptions } from "node:https"
import { connect } from "node:net"
import { listen } from "./listen.ts"

interface Request {
  /** Address and port. */
  readonly authority: string
  /** The credentials, decoded. */
  readonly credentials: string | undefined
}

/** Starts a forward proxy on this machine for the time of a test. It records the requests, and responds with these statuses: 200 opens a tunnel, 0 no response. */
export const startForwardProxy = async (statusOf: (request: Request) => number = () => 200, tls?: ServerOptions) => {
  const requests: Array<Request> = []
  const reject: RequestListener = (_, response) => response.writeHead(405).end()
  const server = tls === undefined ? createServer(reject) : createTlsServer(tls, reject)
  server.on("connect", ({ url: authority = "", headers }, socket) => {
    const basic = /^Basic (.*)$/.exec(headers["proxy-authorization"] ?? "")?.[1]
    const request = { authority, credentials: basic && Buffer.from(basic, "base64").toString() }
    requests.push(request)
    const status = statusOf(request)
    socket.on("error", () => {})
    if (status === 0) return
    if (status !== 200) return void socket.end(`HTTP/1.1 ${status} Rejected\r\n\r\n`)
    const { hostname, port } = new URL(`http://${authority}`)
    const target = connect(Number(port || 80), hostname.replace(/^\[|\]$/g, ""), () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n")
      socket.pipe(target).pipe(socket)
    })
    target.on("error", () => socket.destroy())
    socket.on("close", () => target.destroy())
  })
  const port = await listen(server)
  return { url: `${tls === undefined ? "http" : "https"}://localhost:${port}`, requests }
}
