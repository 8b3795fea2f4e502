import type { Command } from 'commander'
import { listProducts, pullCatalogue, pullPrices, pullProduct, showProduct } from '../catalogue/index.ts'
import type { ServiceDeps } from '../jobs/index.ts'
import type { OutputOf } from '../lib/json/input.ts'
import { BY_COMMAND } from '../partner-calls/index.ts'
import type { CliContext } from './context.ts'
import { defineCommand } from './operation.ts'
import { failureText, historyText } from './order-text.ts'
import { progressBar } from './report.ts'
import { aligned, readable } from './text.ts'

type PullReport = OutputOf<typeof pullProduct>

const NAMED = { partner_deal_id: 'partner_deal_id' }

/** `gatehouse product …`: as over /admin/v1/partners/:partner_id/products. */
export function productCommands(program: Command, context: CliContext): void {
  const product = program.command('product').description('products of partners, as pulled from them')
  pullCommand(product, context)
  pricesCommand(product, context)
  defineCommand(ofPartner(product.command('list').description('the products of a partner')), context, {
    input: listProducts.input,
    inputFrom: ({ partnerId }) => ({ partner_id: partnerId }),
    run: async (deps, partner) => ({ products: await listProducts(deps, partner) }),
    text: ({ products }) => table(products),
  })
  const show = product.command('show').description('one product, its prices from today on and its history')
  defineCommand(ofPartner(show.argument('[partner_deal_id]').usage('<partner_deal_id> [options]')), context, {
    input: showProduct.input,
    inputFrom: ({ partnerId }, partner_deal_id) => ({ partner_id: partnerId, partner_deal_id }),
    run: showProduct,
    text: storyText,
    flags: NAMED,
  })
}

const ofPartner = (command: Command): Command => command.option('--partner-id <id>', 'the partner')

function pullCommand(product: Command, context: CliContext): void {
  const command = product
    .command('pull')
    .description('pull one product, or without partner_deal_id the whole catalogue')
  defineCommand(ofPartner(command.argument('[partner_deal_id]').usage('[partner_deal_id] [options]')), context, {
    input: pullCatalogue.input.extend({ partner_deal_id: pullProduct.input.shape.partner_deal_id.optional() }),
    inputFrom: ({ partnerId }, partner_deal_id) => ({ partner_id: partnerId, partner_deal_id }),
    route: (fields) => ({
      route: `POST /partners/:partner_id/products/${fields.partner_deal_id === undefined ? '' : ':partner_deal_id/'}pull`,
      fields,
    }),
    run: (deps, input) => pull(context, deps, input),
    after: exitCode(context),
    text: pullText,
    flags: NAMED,
  })
}

async function pull(
  { terminal }: CliContext,
  deps: ServiceDeps,
  input: { partner_id: bigint; partner_deal_id?: string | undefined },
): Promise<PullReport> {
  const { partner_id, partner_deal_id } = input
  if (partner_deal_id !== undefined) return pullProduct(deps, { partner_id, partner_deal_id }, { cause: BY_COMMAND })
  const bar = progressBar(terminal.stderr)
  return pullCatalogue(deps, { partner_id }, BY_COMMAND, bar.show).finally(bar.end)
}

function pricesCommand(product: Command, context: CliContext): void {
  const command = product
    .command('pull-prices')
    .description("pull a product's price calendar")
    .option('--from <date>', 'first day, yyyy-MM-dd (default: today)')
    .option('--to <date>', 'last day (default: 90 days later)')
    .option('--level', 'the level price calendar (default: the kind that was pulled before)')
  defineCommand(ofPartner(command.argument('[partner_deal_id]').usage('<partner_deal_id> [options]')), context, {
    input: pullPrices.input,
    inputFrom: ({ partnerId, from, to, level }, partner_deal_id) => ({
      ...{ partner_id: partnerId, partner_deal_id, from, to, level },
    }),
    run: (deps, range) => pullPrices(deps, range, { cause: BY_COMMAND }),
    after: exitCode(context),
    text: pricesText,
    flags: NAMED,
  })
}

/** The exit code tells scripts that something failed; what was stored stays. */
const exitCode =
  ({ terminal }: CliContext) =>
  ({ failure, problems }: { failure: unknown; problems: readonly unknown[] }): void => {
    if (failure || problems.length > 0) terminal.exitCode = 1
  }

const problemLines = (problems: Readonly<OutputOf<typeof pullPrices>['problems']>, title = 'Not stored:'): string[] =>
  problems.length > 0
    ? ['', title, aligned(problems.map(({ entry, path, problem }) => [entry, path, String(problem)]))]
    : []

const pullText = ({ expected, received, refused, pulled, problems, warnings, failure }: PullReport): string =>
  [
    `${expected ?? 'unknown'} expected, ${received} received, ${refused} refused, ${pulled.length} products stored`,
    ...problemLines(problems),
    ...problemLines(warnings, 'Stored, with these warnings:'),
    ...failureText(failure),
  ].join('\n')

const pricesText = ({
  from,
  to,
  pulled,
  changed,
  removed,
  problems,
  warnings,
  will_follow,
  failure,
}: OutputOf<typeof pullPrices>): string =>
  [
    `${from} to ${to}: ${pulled} prices pulled, ${changed} new or changed, ${removed} removed`,
    ...(will_follow ? ['the partner will send them later (999)'] : []),
    ...problemLines(problems),
    ...problemLines(warnings, 'Stored, with these warnings:'),
    ...failureText(failure),
  ].join('\n')

function table(products: Readonly<OutputOf<typeof listProducts>>): string {
  if (products.length === 0) return 'no products yet; pull them: gatehouse product pull --partner-id …'
  const rows = products.map((product) => [
    product.partner_deal_id,
    String(product.mt_deal_id),
    product.sale_state,
    readable(product.pulled_at),
    readable(product.title),
  ])
  return aligned([['PARTNER_DEAL_ID', 'MT_DEAL_ID', 'SALE', 'PULLED', 'TITLE'], ...rows])
}

function storyText({ product: { details: _, ...product }, prices, history }: OutputOf<typeof showProduct>): string {
  const rows = prices.map(({ price_date, partner_primary_key, mt_price, settlement_price, stock }) => [
    price_date,
    partner_primary_key || '-',
    readable(mt_price),
    readable(settlement_price),
    stock === -1 ? 'unlimited' : String(stock),
  ])
  return [
    aligned(Object.entries(product).map(([field, value]) => [field, readable(value)])),
    ...(rows.length > 0 ? ['', aligned([['DATE', 'KEY', 'PRICE', 'SETTLEMENT', 'STOCK'], ...rows])] : []),
    '',
    historyText(history),
  ].join('\n')
}
