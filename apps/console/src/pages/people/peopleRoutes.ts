import { findPage, search } from "./findPage.tsx"
import { erase, exportPerson, lift, planErasureOf, suppress } from "./personActions.tsx"
import { personPage, show } from "./personPage.tsx"

/** Finds things and people, and shows one clinician. */
export const peopleRoutes = [findPage, search, personPage, show, suppress, lift, exportPerson, planErasureOf, erase]
