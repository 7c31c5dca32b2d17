import type { AddressInfo } from "node:net"
import { buildServer } from "./buildServer.ts"
import { connect } from "./connect.ts"

const { DATABASE_URL, CURSOR_KEY, DOCS_URL } = process.env as Record<string, string>

const sql = connect(DATABASE_URL!)
const server = buildServer(sql, { cursorKey: Buffer.from(CURSOR_KEY!, "base64"), docsUrl: DOCS_URL! })
await server.listen({ host: "127.0.0.1", port: 0 })
const { port } = server.server.address() as AddressInfo
console.log(JSON.stringify({ message: "listening", annotations: { url: `http://127.0.0.1:${port}`, port } }))

process.once("SIGTERM", async () => {
  await server.close()
  await sql.end()
})
