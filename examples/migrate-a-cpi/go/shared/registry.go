package shared

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
)

// Registry is the client that every CPI of version 1 has.
type Registry struct{ Endpoint, User, Password string }

// Settings of an agent. Keys that nobody here knows are kept.
type Settings map[string]any

// URL is what an agent is given: it has no other way to the credentials.
func (r Registry) URL() string {
	parsed, err := url.Parse(r.Endpoint)
	if err != nil {
		return r.Endpoint
	}
	parsed.User = url.UserPassword(r.User, r.Password)
	return parsed.String()
}

func (r Registry) Read(vm string) (Settings, error) {
	body, err := r.send(http.MethodGet, vm, nil)
	if err != nil {
		return nil, err
	}
	var outer struct{ Settings string }
	if err := json.Unmarshal(body, &outer); err != nil {
		return nil, err
	}
	var settings Settings
	return settings, json.Unmarshal([]byte(outer.Settings), &settings)
}

func (r Registry) Write(vm string, settings Settings) error {
	body, err := json.Marshal(settings)
	if err == nil {
		_, err = r.send(http.MethodPut, vm, body)
	}
	return err
}

func (r Registry) Delete(vm string) error {
	_, err := r.send(http.MethodDelete, vm, nil)
	return err
}

func (r Registry) send(verb, vm string, body []byte) ([]byte, error) {
	request, err := http.NewRequest(verb, r.Endpoint+"/instances/"+vm+"/settings", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.SetBasicAuth(r.User, r.Password)
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	if reply.StatusCode >= 300 {
		return nil, Fail("CloudError", "the registry answered %s to %s of VM '%s'", reply.Status, verb, vm)
	}
	return io.ReadAll(reply.Body)
}
