-- Micro-apps as clients of OAuth 2.0 and OpenID Connect. Apps that were there before may go on without PKCE.
alter table micro_app
  add column post_logout_uris text[] not null default '{}',
  add column token_auth_methods text[] not null default '{client_secret_basic,client_secret_post}',
  add column require_pkce boolean not null default false,
  add column always_ask boolean not null default false,
  add column cors_origins text[] not null default '{}',
  add column id_token_alg text not null default 'RS256';
