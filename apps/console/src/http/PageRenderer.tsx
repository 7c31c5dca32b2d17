import { Context, Effect, Layer } from "effect"
import { HttpServerResponse } from "effect/http"
import type { VNode } from "preact"
import { renderToString } from "preact-render-to-string"
import { ConsoleConfig } from "../ConsoleConfig.ts"
import { Document, Layout, Narrow } from "../components/Layout.tsx"
import { LinkLine } from "../components/lists.tsx"
import { type View, ViewContext } from "../components/View.ts"
import { isolated, textOf } from "../components/values.tsx"
import { visibleText } from "../components/visibleText.ts"
import { Assets } from "./assets.ts"
import type { PageError } from "./PageError.ts"
import type { Section } from "./paths.ts"
import type { PageContent } from "./Route.ts"

export class PageRenderer extends Context.Service<PageRenderer>()("console/http/PageRenderer", {
  make: Effect.gen(function* () {
    const { style, icon, scripts } = yield* Assets
    const { deployment } = yield* ConsoleConfig
    const assets = { style: style.path, icon: icon.path, scripts: scripts.map(({ path }) => path) }

    /** Renders a document, for nobody who is signed in. */
    const document = (title: string, body: VNode, status = 200): HttpServerResponse.HttpServerResponse => {
      const html = renderToString(
        <Document title={title} assets={assets}>
          {body}
        </Document>,
      )
      return HttpServerResponse.text(`<!doctype html>${visibleText(html)}`, {
        status,
        contentType: "text/html; charset=utf-8",
      })
    }

    const page = (
      view: View,
      { title, commands, body }: PageContent,
      options: { readonly section?: Section; readonly notice?: string | undefined; readonly status?: number } = {},
    ): HttpServerResponse.HttpServerResponse =>
      document(
        textOf(title),
        <ViewContext.Provider value={view}>
          <Layout
            section={options.section}
            deployment={deployment}
            heading={title}
            notice={options.notice}
            commands={commands}
          >
            {body}
          </Layout>
        </ViewContext.Provider>,
        options.status,
      )

    return {
      document,
      page,
      error: (
        view: View | undefined,
        { status, title, messages, retryAfterSeconds }: PageError,
      ): HttpServerResponse.HttpServerResponse => {
        const body = (
          <>
            {messages.map((message) => (
              <p key={message} class="problem">
                {isolated(message)}
              </p>
            ))}
            <LinkLine to="/">Back to today</LinkLine>
          </>
        )
        const response =
          view === undefined
            ? document(title, <Narrow title={title}>{body}</Narrow>, status)
            : page(view, { title, commands: [], body }, { status })
        return retryAfterSeconds === undefined
          ? response
          : HttpServerResponse.setHeader(response, "retry-after", String(retryAfterSeconds))
      },
    }
  }),
}) {
  static readonly layer = Layer.effect(PageRenderer, PageRenderer.make)
}
