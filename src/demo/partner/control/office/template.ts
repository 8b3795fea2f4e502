/** The one page, for eta, which escapes whatever is between `<%=` and `%>`: titles and other values are untrusted. */

const HEAD = `<!doctype html>
<html lang="<%= it.locale %>">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title><%= it.problem ? it.t.refused : it.t.title %> – Lakeside Tickets</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/office/pico.classless.min.css">
<link rel="stylesheet" href="/office/office.css">
</head>
<body>
<header>
<p class="brand">Lakeside Tickets <span lang="zh-CN">湖畔票务</span></p>
<nav aria-label="<%= it.t.sections %>">
<a href="#orders"><%= it.t.orders %> <%= it.orders.all %></a>
<a href="#refunds"><%= it.t.refunds %> <%= it.refunds.all %></a>
<a href="#products"><%= it.t.products %> <%= it.products.length %></a>
<a href="#notices"><%= it.t.notices %> <%= it.notices.all %></a>
<a href="#mistakes"><%= it.t.mistakes %> <%= it.mistaken.length %></a>
<a class="button second" href="/"><%= it.t.again %></a>
</nav>
</header>
<main>
<h1><%= it.t.title %></h1>
<p class="lead"><%= it.t.lead %></p>
<% if (it.problem) { %><p class="alert" role="alert" id="said" tabindex="-1"><%= it.t.refused %> – <span lang="en"><%= it.problem %></span></p><% } %>
<% if (it.done) { %><p class="good" role="status" id="said" tabindex="-1"><%= it.done %></p><% } %>
<% if (it.mistaken.length > 0) { %>
<form class="alert" method="post" action="/office/mistakes">
<strong><%= it.t.mistaken %></strong> <% for (const name of it.mistaken) { %><code><%= name %></code> <% } %>
<button class="second" type="submit"><%= it.t.honest %></button>
</form>
<% } %>`

const ORDERS = `
<section id="orders" aria-labelledby="orders-title">
<h2 id="orders-title"><%= it.t.orders %></h2>
<% if (it.orders.all === 0) { %><p class="note"><%= it.t.no_orders %></p><% } %>
<% if (it.orders.note) { %><p class="note"><%= it.orders.note %></p><% } %>
<ul class="cards">
<% for (const order of it.orders.shown) { %>
<li>
<h3 id="order-<%= order.orderId %>"><small><%= it.t.order %></small> <%= order.orderId %></h3>
<p><strong><%= order.partnerDealId %></strong> · <%= order.travelDate ?? it.t.any_day %> · <%= it.t.states[order.state] %></p>
<p><%= order.numbers %></p>
<% if (order.vouchers.length > 0) { %><p><%= it.t.vouchers %> <% for (const voucher of order.vouchers) { %><code><%= voucher %></code> <% } %></p><% } %>
<% if (order.unusedQuantity > 0) { %>
<form class="line" method="post" action="/office/consume">
<input type="hidden" name="orderId" value="<%= order.orderId %>">
<label><%= it.t.visitors %> <input type="number" name="quantity" min="1" max="<%= order.unusedQuantity %>" value="1" required></label>
<button type="submit" aria-describedby="order-<%= order.orderId %>"><%= it.t.let_in %></button>
</form>
<% } %>
</li>
<% } %>
</ul>
</section>`

const REFUNDS = `
<section id="refunds" aria-labelledby="refunds-title">
<h2 id="refunds-title"><%= it.t.refunds %></h2>
<% if (it.refunds.all === 0) { %><p class="note"><%= it.t.no_refunds %></p><% } %>
<% if (it.refunds.note) { %><p class="note"><%= it.refunds.note %></p><% } %>
<ul class="cards">
<% for (const [at, refund] of it.refunds.shown.entries()) { %>
<li>
<h3 id="refund-<%= at %>"><small><%= it.t.refund %></small> <%= refund.refundId %></h3>
<p><%= it.t.order %> <%= refund.orderId %> · <%= it.t.tickets %> <%= refund.quantity %> · <strong><%= it.t.states[refund.state] %></strong><% if (refund.reason) { %> · <%= refund.reason %><% } %></p>
<% if (refund.state === 'reviewing') { %>
<form class="line" method="post" action="/office/decide-refund">
<input type="hidden" name="refundId" value="<%= refund.refundId %>">
<label class="wide"><%= it.t.reason %> <input name="reason" maxlength="100" autocomplete="off"></label>
<button type="submit" name="decision" value="approve" aria-describedby="refund-<%= at %>"><%= it.t.approve %></button>
<button class="second" type="submit" name="decision" value="refuse" aria-describedby="refund-<%= at %>"><%= it.t.refuse %></button>
</form>
<% } %>
</li>
<% } %>
</ul>
</section>`

const PRODUCTS = `
<section id="products" aria-labelledby="products-title">
<h2 id="products-title"><%= it.t.products %></h2>
<p class="note"><%= it.deposit %></p>
<ul class="cards">
<% for (const product of it.products) { %>
<li>
<h3><small><%= product.partnerDealId %></small> <%= product.title %></h3>
<p><%= it.t.calendars[product.calendar] %> · <%= it.t.issues[product.issues] %> · <%= it.t.refunding[product.refunds] %><% if (!product.onSale) { %> · <strong><%= it.t.off_sale %></strong><% } %></p>
<p><%= product.offer %></p>
<details>
<summary><%= it.t.change %> <%= product.partnerDealId %></summary>
<form method="post" action="/office/change-product">
<input type="hidden" name="partnerDealId" value="<%= product.partnerDealId %>">
<label><%= it.t.name %> <input name="title" value="<%= product.title %>" maxlength="200" required autocomplete="off"></label>
<label><%= it.t.on_sale %> <select name="onSale"><% for (const value of ['yes', 'no']) { %><option value="<%= value %>"<%= product.onSale === (value === 'yes') ? ' selected' : '' %>><%= it.t[value] %></option><% } %></select></label>
<label><%= it.t.market_price %> <input type="number" name="marketPrice" min="0" step="0.01" value="<%= product.marketPrice %>" required></label>
<label><%= it.t.mt_price %> <input type="number" name="mtPrice" min="0" step="0.01" value="<%= product.mtPrice %>" required></label>
<label><%= it.t.settlement_price %> <input type="number" name="settlementPrice" min="0" step="0.01" value="<%= product.settlementPrice %>" required></label>
<label><%= it.t.stock %> <input type="number" name="stock" min="-1" step="1" value="<%= product.stock %>" required></label>
<button type="submit"><%= it.t.save %></button>
</form>
</details>
</li>
<% } %>
<li>
<h3><%= it.t.new_product %></h3>
<form method="post" action="/office/add-product">
<label><%= it.t.product_id %> <input name="partnerDealId" maxlength="60" pattern="[A-Za-z0-9_\\-]+" required autocomplete="off"></label>
<label><%= it.t.name %> <input name="title" maxlength="200" required autocomplete="off"></label>
<button type="submit"><%= it.t.add %></button>
</form>
</li>
</ul>
</section>`

const NOTICES = `
<section id="notices" aria-labelledby="notices-title">
<h2 id="notices-title"><%= it.t.notices %></h2>
<% if (it.notices.all === 0) { %><p class="note"><%= it.t.no_notices %></p><% } %>
<% if (it.notices.note) { %><p class="note"><%= it.notices.note %></p><% } %>
<ol class="cards one">
<% for (const notice of it.notices.shown) { %>
<li>
<h3><small><%= it.t.paths[notice.path] ?? '' %></small> <%= notice.path %></h3>
<p><strong class="<%= notice.acknowledged ? 'yes' : 'no' %>"><%= notice.acknowledged ? it.t.acknowledged : it.t.waiting %></strong> · <%= notice.sent %></p>
<p><%= it.t.platform %> <code lang="en"><%= notice.lastAnswer %></code></p>
<details><summary><%= it.t.message %></summary><pre tabindex="0"><code><%= notice.text %></code></pre></details>
</li>
<% } %>
</ol>
</section>`

const MISTAKES = `
<section id="mistakes" aria-labelledby="mistakes-title">
<h2 id="mistakes-title"><%= it.t.mistakes %></h2>
<p class="note"><%= it.t.mistakes_lead %></p>
<form method="post" action="/office/mistakes">
<div class="groups">
<% for (const group of it.groups) { %>
<fieldset>
<legend><%= group.title %></legend>
<% for (const mistake of group.mistakes) { %>
<label class="switch"><input type="checkbox" name="mistakes" value="<%= mistake.name %>"<%= mistake.on ? ' checked' : '' %>> <span><%= mistake.text %> <code><%= mistake.name %></code></span></label>
<% } %>
</fieldset>
<% } %>
</div>
<button type="submit"><%= it.t.make %></button>
</form>
<form method="post" action="/office/mistakes">
<button class="second" type="submit"><%= it.t.honest %></button>
</form>
</section>`

export const PAGE = `${HEAD}${ORDERS}${REFUNDS}${PRODUCTS}${NOTICES}${MISTAKES}
</main>
</body>
</html>
`
