// golang.org/x/oauth2 with github.com/coreos/go-oidc. ../README.md describes the protocol with the parent process.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

var (
	input = bufio.NewReader(os.Stdin)
	ctx   = context.Background()
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func expect(holds bool, what string) {
	if !holds {
		log.Fatalf("not so: %s", what)
	}
}

func step(name string) { fmt.Println("step " + name) }

// visit lets Alice open the address, sign in and consent, and returns the query of the redirect back.
func visit(address string) url.Values {
	fmt.Println("visit " + address)
	return must(url.Parse(strings.TrimSpace(must(input.ReadString('\n'))))).Query()
}

func refusedWith(err error, code string) {
	var refused *oauth2.RetrieveError
	expect(errors.As(err, &refused) && refused.ErrorCode == code, fmt.Sprintf("%v is %s", err, code))
}

type signIn struct {
	code, verifier, nonce string
}

func begin(config oauth2.Config) signIn {
	state, nonce, verifier := oauth2.GenerateVerifier(), oauth2.GenerateVerifier(), oauth2.GenerateVerifier()
	back := visit(config.AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier)))
	expect(back.Get("state") == state, "the state came back")
	return signIn{back.Get("code"), verifier, nonce}
}

func exchange(config oauth2.Config, begun signIn) (*oauth2.Token, error) {
	return config.Exchange(ctx, begun.code, oauth2.VerifierOption(begun.verifier))
}

func walk(provider *oidc.Provider, config oauth2.Config) {
	begun := begin(config)
	token := must(exchange(config, begun))
	verifier := provider.Verifier(&oidc.Config{ClientID: config.ClientID})
	idToken := must(verifier.Verify(ctx, token.Extra("id_token").(string)))
	expect(idToken.Subject == "1-10001" && idToken.Nonce == begun.nonce, "the id_token is Alice's, with the nonce")
	expect(idToken.VerifyAccessToken(token.AccessToken) == nil, "at_hash is the access token's")
	step("sign-in by discovery, PKCE and nonce, id_token verified")

	user := must(provider.UserInfo(ctx, config.TokenSource(ctx, token)))
	var claims struct {
		Phone string `json:"phone_number"`
	}
	expect(user.Claims(&claims) == nil && claims.Phone == "+8613800000001", "userinfo has the phone number")
	step("userinfo")

	expired := *token
	expired.Expiry = time.Now().Add(-time.Hour)
	refreshed := must(config.TokenSource(ctx, &expired).Token())
	expect(refreshed.AccessToken != token.AccessToken, "refreshing gives a new access token")
	step("refresh")

	_, err := exchange(config, begun)
	refusedWith(err, "invalid_grant")
	step("replayed code")

	form := url.Values{"token": {refreshed.RefreshToken}}
	request := must(http.NewRequest("POST", revocationOf(provider), strings.NewReader(form.Encode())))
	request.SetBasicAuth(url.QueryEscape(config.ClientID), url.QueryEscape(config.ClientSecret))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	expect(must(http.DefaultClient.Do(request)).StatusCode == 200, "revocation is answered by 200")
	_, err = provider.UserInfo(ctx, oauth2.StaticTokenSource(refreshed))
	expect(err != nil && strings.HasPrefix(err.Error(), "401"), fmt.Sprintf("%v is a 401", err))
	dead := *refreshed
	dead.Expiry = time.Now().Add(-time.Hour)
	_, err = config.TokenSource(ctx, &dead).Token()
	refusedWith(err, "invalid_grant")
	step("revocation, revoked token")
}

func revocationOf(provider *oidc.Provider) string {
	var found struct {
		Revocation string `json:"revocation_endpoint"`
	}
	expect(provider.Claims(&found) == nil, "discovery names the revocation endpoint")
	return found.Revocation
}

func main() {
	log.SetFlags(0)
	provider := must(oidc.NewProvider(ctx, os.Getenv("ISSUER")))
	step("discovery")
	config := oauth2.Config{
		ClientID:     os.Getenv("CLIENT_ID"),
		ClientSecret: os.Getenv("CLIENT_SECRET"),
		Endpoint:     provider.Endpoint(),
		RedirectURL:  os.Getenv("REDIRECT_URI"),
		Scopes:       []string{oidc.ScopeOpenID, "profile", "phone", oidc.ScopeOfflineAccess},
	}
	styles := map[string]oauth2.AuthStyle{
		"found out": oauth2.AuthStyleAutoDetect, "header": oauth2.AuthStyleInHeader, "form": oauth2.AuthStyleInParams,
	}
	for name, style := range styles {
		config.Endpoint.AuthStyle = style
		step("client authentication: " + name)
		walk(provider, config)
	}
	wrong := config
	wrong.ClientSecret = "wrong"
	_, err := exchange(wrong, begin(wrong))
	refusedWith(err, "invalid_client")
	step("wrong secret")
}
