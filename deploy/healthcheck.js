// Exits with 0 if the process of this container responds: the API on its public port, or the worker on its admin port.
const { PORT = "8080", ADMIN_PORT = "9464" } = process.env
const urls = [`http://127.0.0.1:${PORT}/v1/health`, `http://127.0.0.1:${ADMIN_PORT}/livez`]
const responds = async (url) => {
  const { ok } = await fetch(url, { signal: AbortSignal.timeout(4000) })
  if (!ok) throw new Error(url)
}
await Promise.any(urls.map(responds)).catch(() => {
  process.exitCode = 1
})
