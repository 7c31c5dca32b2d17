import { Liquid } from "liquidjs"

/** What a campaign's subject and body may name. */
export interface TemplateVariables {
  readonly token: string
  readonly campaign_name: string
  readonly program_name: string
}

// Own properties only and strict names: a template reaches nothing but its variables, and a misspelt one is an error at once.
const engine = new Liquid({ ownPropertyOnly: true, strictVariables: true, strictFilters: true })

const SAMPLE: TemplateVariables = { token: "aB3dE9", campaign_name: "Campaign", program_name: "Program" }

/** Says why a text is no template that renders, or undefined. */
export const checkTemplate = (text: string): string | undefined => {
  try {
    engine.parseAndRenderSync(text, { ...SAMPLE })
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** Renders a template that `checkTemplate` has accepted. */
export const renderTemplate = (text: string, variables: TemplateVariables): string =>
  engine.parseAndRenderSync(text, { ...variables })
