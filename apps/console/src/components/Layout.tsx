import type { ComponentChildren } from "preact"
import { DEPLOYMENT_SECTIONS, SECTIONS, type Section } from "../http/paths.ts"
import { useView } from "./View.ts"
import { ForeignText, isolated } from "./values.tsx"

export interface PageAssets {
  readonly style: string
  readonly icon: string
  readonly scripts: ReadonlyArray<string>
}

export const Document = (props: {
  readonly title: string
  readonly assets: PageAssets
  readonly children: ComponentChildren
}) => (
  <html lang="en">
    <head>
      <meta charSet="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>{props.title} · Outreach console</title>
      <link rel="icon" href={props.assets.icon} />
      <link rel="stylesheet" href={props.assets.style} />
      {props.assets.scripts.map((script) => (
        <script key={script} type="module" src={script} />
      ))}
    </head>
    <body>{props.children}</body>
  </html>
)

export const Layout = (props: {
  readonly section: Section | undefined
  readonly deployment: string
  readonly heading: ComponentChildren
  readonly notice: string | undefined
  readonly commands: ReadonlyArray<string>
  readonly children: ComponentChildren
}) => {
  const { operator, formToken } = useView()
  const isBound = operator.organizationId !== null
  const sections = (Object.keys(SECTIONS) as Array<Section>).filter(
    (section) => !isBound || !DEPLOYMENT_SECTIONS.includes(section),
  )
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="top">
        <p class="brand">
          <a href="/">Outreach console</a> <span class={`badge ${props.deployment}`}>{props.deployment}</span>
        </p>
        <form class="account" method="post" action="/sign-out">
          <input type="hidden" name="token" value={formToken} />
          <span>
            <ForeignText>{operator.name}</ForeignText> <small>{operator.role}</small>
          </span>
          <button type="submit" class="plain">
            Sign out
          </button>
        </form>
      </header>
      <nav class="sections" aria-label="Sections">
        <ul>
          {sections.map((section) => (
            <li key={section}>
              <a href={SECTIONS[section].path} aria-current={section === props.section ? "page" : undefined}>
                {SECTIONS[section].title}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main id="content" tabIndex={-1}>
        {props.notice !== undefined && (
          <p class="notice" role="status">
            <ForeignText>{props.notice}</ForeignText>
          </p>
        )}
        <h1>{props.heading}</h1>
        {props.children}
        {props.commands.length > 0 && (
          <aside class="commands" aria-label="The same on the command line">
            <h2>On the command line</h2>
            {props.commands.map((command) => (
              <Command key={command}>{isolated(command)}</Command>
            ))}
          </aside>
        )}
      </main>
    </>
  )
}

export const Narrow = (props: { readonly title: string; readonly children: ComponentChildren }) => (
  <main class="narrow" id="content">
    <h1>{props.title}</h1>
    {props.children}
  </main>
)

/** A command line that shows or does the same as the page. */
export const Command = (props: { readonly children: ComponentChildren }) => (
  <pre class="command">
    <code>{props.children}</code>
  </pre>
)
