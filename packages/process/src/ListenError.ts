/** Listen address, and the settings or options that define it. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
  readonly hostSetting: string
  readonly portSetting: string
}

/** Thrown when a server can't listen. The message explains the reason and the remedy. */
export class ListenError extends Error {
  override readonly name = "ListenError"
  readonly _tag = "ListenError"
  constructor(address: ListenAddress, error: unknown) {
    super(explain(address, (error as NodeJS.ErrnoException).code))
  }
}

const explain = ({ host, port, hostSetting, portSetting }: ListenAddress, code: string | undefined): string => {
  switch (code) {
    case "EADDRINUSE":
      return `Another process listens on port ${port} of ${host}; stop it, or set ${portSetting} to another port.`
    case "EACCES":
      return `This user may not listen on port ${port}; set ${portSetting} to a port above 1023, or give the process the right to it.`
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `${host} is not an address of this machine; correct ${hostSetting}.`
    default:
      return `The process cannot listen on port ${port} of ${host} (${code ?? "unknown"}); check ${hostSetting} and ${portSetting}.`
  }
}
