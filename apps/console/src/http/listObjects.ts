import { CampaignReader } from "@outreach/backoffice/campaigns/CampaignReader"
import { DeliveryReader } from "@outreach/backoffice/deliveries/DeliveryReader"
import { nameIn } from "@outreach/backoffice/format"
import { fieldName } from "@outreach/backoffice/operations/Field"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { CampaignId, OrganizationId } from "@outreach/domain/Identifier"
import { ProgramRepository } from "@outreach/domain/programs/Programs"
import { Effect, Record } from "effect"
import type { Controls } from "../components/forms.tsx"

/** Number of campaigns in a filter. */
const MAX_CAMPAIGNS = 200

type Named = {
  readonly id: string
  readonly name: string
  readonly organizationId?: OrganizationId
  readonly status?: string
}

/** The objects that a list's filters offer and its columns name. */
export interface Objects {
  readonly byField: Readonly<Record<string, ReadonlyArray<Named>>>
  readonly nameOf: (id: string) => string | undefined
}

/** Returns the host of an endpoint's address, with the end of its id. */
export const endpointName = ({ id, url }: { readonly id: string; readonly url: string }): string =>
  `${URL.parse(url)?.host ?? url} (…${id.slice(-4)})`

/** Reads the objects of fields with ids. */
export const readObjects = Effect.fnUntraced(function* (
  fields: object,
  filter: { readonly organizationId?: OrganizationId; readonly campaignId?: CampaignId },
) {
  const { organizationId, campaignId } = filter
  const campaigns = Effect.gen(function* () {
    const newest = yield* CampaignReader.use(({ names }) => names(organizationId, MAX_CAMPAIGNS))
    const isOffered = campaignId === undefined || newest.some(({ id }) => id === campaignId)
    return isOffered ? newest : [yield* CampaignRepository.use(({ find }) => find(campaignId)), ...newest]
  })
  const readers = {
    organizationId: OrganizationReader.use(({ list }) => list),
    programId: ProgramRepository.use(({ list }) => list(organizationId)),
    endpointId: DeliveryReader.use(({ endpoints }) =>
      Effect.map(endpoints(organizationId), (all) => all.map((each) => ({ id: each.id, name: endpointName(each) }))),
    ),
    campaignId: campaigns,
  }
  const byField = yield* Effect.all(Record.filter(readers, (_, field) => field in fields) as typeof readers, {
    concurrency: "unbounded",
  })
  const names = new Map(Object.values(byField).flatMap((all) => all.map(({ id, name }) => [id as string, name])))
  return { byField, nameOf: (id: string) => names.get(id) } satisfies Objects
})

/** Returns the options and values of the filters, also for the form of a new object, which doesn't offer archived programs. */
export const optionsOf = ({ byField }: Objects, filter: object, isOfNew = false): Controls => {
  const { organizationId: organizations = [] } = byField
  const values = filter as Readonly<Record<string, unknown>>
  const isOfOne = values["organizationId"] !== undefined
  const optionOf = ({ id, name, organizationId }: Named) =>
    [id, isOfOne || organizationId === undefined ? name : `${nameIn(organizations, organizationId)}: ${name}`] as const
  return Object.fromEntries(
    Object.entries(byField).map(([field, all]) => [
      fieldName(field),
      { options: all.filter(({ status }) => !isOfNew || status !== "archived").map(optionOf), value: values[field] },
    ]),
  )
}
