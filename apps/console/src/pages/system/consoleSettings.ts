import type { ConsoleConfig } from "../../ConsoleConfig.ts"

/** Lists what the console was started with, and none of the secrets. */
export const consoleSettings = (
  config: ConsoleConfig["Service"],
): ReadonlyArray<{ readonly name: string; readonly value: string }> => {
  const { hosts, database, username } = config.database.address
  const values: Readonly<Record<string, string | number>> = {
    DEPLOYMENT: config.deployment,
    DATABASE_URL: `${hosts.map(({ host, port }) => `${host}:${port}`).join(", ")}, database ${database ?? "–"}, user ${username ?? "–"}, with its password left out`,
    DATABASE_CONNECTIONS: config.databaseConnections,
    CONSOLE_URL: config.consoleUrl,
    CONSOLE_HOST: config.host,
    CONSOLE_PORT: config.port,
    CONSOLE_PROXY_HEADER: config.proxyHeader ?? "none",
    SIGN_IN_LIMIT: config.signInLimit,
    ADMIN_HOST: config.adminHost,
    CONSOLE_ADMIN_PORT: config.adminPort,
    PUBLIC_BASE_URL: config.publicBaseUrl,
    SECRETS_KEY: config.secretsKey.length === 1 ? "1 key, not shown" : `${config.secretsKey.length} keys, not shown`,
  }
  return Object.entries(values).map(([name, value]) => ({ name, value: String(value) }))
}
