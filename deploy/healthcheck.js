// Exits with 0 if the process of this container responds: the API on its public port, or the worker or the console on its admin port.
const { PORT = "8080", ADMIN_PORT } = process.env
const adminPorts = ADMIN_PORT ? [ADMIN_PORT] : ["9464", "9466"]
const urls = [`${PORT}/v1/health`, ...adminPorts.map((port) => `${port}/livez`)].map((at) => `http://127.0.0.1:${at}`)
const responds = async (url) => {
  const { ok } = await fetch(url, { signal: AbortSignal.timeout(4000) })
  if (!ok) throw new Error(url)
}
await Promise.any(urls.map(responds)).catch(() => {
  process.exitCode = 1
})
