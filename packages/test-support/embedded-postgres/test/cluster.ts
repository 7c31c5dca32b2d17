import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { dirname } from "node:path"
import { commandLine } from "../src/processToken.ts"
import { query } from "./query.ts"

/** The folders and the process of a running cluster. */
export interface Cluster {
  readonly data: string
  readonly folder: string
  readonly postmaster: number
}

/** Finds the folders and the process behind a server's address. */
export async function cluster(url: string): Promise<Cluster> {
  const [row] = await query(url, "show data_directory")
  const data = String(row?.["data_directory"])
  const postmaster = Number.parseInt(await readFile(`${data}/postmaster.pid`, "utf8"), 10)
  return { data, folder: dirname(data), postmaster }
}

/** Returns the remaining parts of a cluster. */
export async function left({ folder, postmaster }: Cluster): Promise<("folder" | "process")[]> {
  const found: ("folder" | "process")[] = []
  if (existsSync(folder)) found.push("folder")
  if (await isPostgres(postmaster)) found.push("process")
  return found
}

export async function isPostgres(pid: number): Promise<boolean> {
  return (await commandLine(pid)).includes("postgres -D")
}
