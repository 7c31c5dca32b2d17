import { readFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http"
import { createServer as createTlsServer } from "node:https"
import type { AddressInfo, Server } from "node:net"
import { join } from "node:path"
import { listen } from "@outreach/testing/listen"
import { startNameServer } from "@outreach/testing/startNameServer"
import type { AtEnd } from "@outreach/testing/startProcess"
import { SMTPServer } from "smtp-server"
import { REPOSITORY } from "../artifact.ts"

const certificate = (name: string): string =>
  readFileSync(join(REPOSITORY, "packages/postgres-connection/test/data", name), "utf8")

/** Key of both certificates, and their CA. */
export const KEY = certificate("key.pem")
export const AUTHORITY = join(REPOSITORY, "packages/postgres-connection/test/data/authority.pem")
/** A valid and an expired certificate for `localhost` and 127.0.0.1. */
export const CERTIFICATES = { valid: certificate("leaf.pem"), expired: certificate("expired.pem") }

/** Name of the partner's server, known only to the run's name server. */
const PARTNER_NAME = "partner.test"

/** A mail server with STARTTLS and authentication that can be stopped, started, and given other certificates. */
export const startMail = async (folder: string, atEnd: AtEnd) => {
  const certificate = join(folder, "server.pem")
  await writeFile(certificate, CERTIFICATES.valid)
  /** The time of each e-mail. */
  const arrived: Array<number> = []
  // The certificates are for 127.0.0.1, so the server uses that address. It keeps the port that the system assigned first.
  let port = 0
  let password = "mail"
  let server: SMTPServer | undefined
  const start = () =>
    new Promise<void>((resolve, reject) => {
      server = new SMTPServer({
        ...{ key: KEY, cert: readFileSync(certificate), authOptional: false, authMethods: ["PLAIN", "LOGIN"] },
        onAuth: (auth, _, done) =>
          auth.password === password ? done(null, { user: "outreach" }) : done(new Error("not the password")),
        onData: (stream, _, done) => {
          stream.on("end", () => {
            arrived.push(performance.now())
            done()
          })
          stream.resume()
        },
      })
      server.on("error", reject)
      const listening = server.listen(port, "127.0.0.1", () => {
        ;({ port } = listening.address() as AddressInfo)
        resolve()
      })
    })
  const stop = async () => {
    const stopped = server
    server = undefined
    if (stopped === undefined) return
    const closed = new Promise<void>((resolve) => stopped.close(resolve))
    for (const { _socket } of stopped.connections as Set<{ _socket: { destroy(): void } }>) _socket.destroy()
    await closed
  }
  await start()
  atEnd(stop)
  return {
    url: `smtp://outreach:mail@127.0.0.1:${port}`,
    arrived,
    stop,
    start,
    restart: async () => {
      await stop()
      await start()
    },
    /** Path of the certificate used at the next start. */
    certificate,
    take: (given: string) => {
      password = given
    },
  }
}

/** Behavior of the partner's proxy: pass webhooks on, or return a status. */
type Answer = "ok" | number

/** The proxy in front of a partner's receiver, with https, and http for names without a certificate. */
export const startPartnerProxy = async (atEnd: AtEnd) => {
  let answer: Answer = "ok"
  let receiver = 0
  const accepted: Array<number> = []
  const handle = (incoming: IncomingMessage, response: ServerResponse): void => {
    response.once("finish", () => {
      if (response.statusCode < 300) accepted.push(performance.now())
    })
    if (answer !== "ok") return void response.writeHead(answer).end()
    const { method, headers, url: path } = incoming
    const options = { host: "127.0.0.1", port: receiver, method, headers, path }
    const onward = request(options, (answered) => {
      response.writeHead(answered.statusCode!, answered.headers)
      answered.pipe(response)
    })
    onward.on("error", () => response.destroy())
    incoming.pipe(onward)
  }
  const secure = createTlsServer({ key: KEY, cert: CERTIFICATES.valid }, handle)
  // Each call resolves the name again.
  const plain = createServer((incoming, response) => {
    response.shouldKeepAlive = false
    handle(incoming, response)
  })
  const open = (server: Server) => listen(server, atEnd)
  const [securePort, plainPort] = [await open(secure), await open(plain)]
  return {
    url: `https://localhost:${securePort}/`,
    namedUrl: `http://${PARTNER_NAME}:${plainPort}/`,
    /** Times of webhooks answered with 2xx. */
    accepted,
    /** Passes webhooks to this port from now on. */
    leadTo: (port: number) => {
      receiver = port
    },
    answerWith: (given: Answer) => {
      answer = given
    },
    present: (name: keyof typeof CERTIFICATES) => {
      secure.setSecureContext({ key: KEY, cert: CERTIFICATES[name] })
      // Open connections keep their certificate.
      secure.closeAllConnections()
    },
  }
}

export const startNames = async (atEnd: AtEnd) => {
  let isSilent = false
  const { address } = await startNameServer((name, type) => {
    if (isSilent) return undefined
    return name === PARTNER_NAME && type === "A"
      ? { records: [{ type: "A", name, ttl: 0, data: "127.0.0.1" }] }
      : { records: [] }
  }, atEnd)
  return {
    address,
    stop: () => {
      isSilent = true
    },
    restart: async () => {
      isSilent = false
    },
  }
}
