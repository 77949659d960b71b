package main

import (
	"context"
	"encoding/json"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	plugin "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	limits "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/kubernetes/scheme"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

type decision struct {
	Policy  string   `json:"policy"`
	Actions []string `json:"actions"`
	Verdict string   `json:"verdict"` // admit, deny, or error: an expression could not be evaluated
	Message string   `json:"message"`
	Cost    int64    `json:"cost"` // of all rules and messages of the policy together
}

// judge gives the decisions of all policies that match the request and have a binding that does.
func judge(policies []*compiled, asked request) ([]decision, error) {
	object, kind, resource, err := decode(asked.Object)
	if err != nil {
		return nil, err
	}
	named, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	operation := admission.Create
	if asked.Operation != "" {
		operation = admission.Operation(asked.Operation)
	}
	account := &user.DefaultInfo{Name: asked.Username}
	attributes := admission.NewAttributesRecord(
		object, nil, kind, named.GetNamespace(), named.GetName(), resource, "", operation, nil, false, account)
	namespace := &core.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name:   named.GetNamespace(),
		Labels: map[string]string{core.LabelMetadataName: named.GetNamespace()},
	}}
	known := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	if err := known.Add(namespace); err != nil {
		return nil, err
	}
	matcher := generic.NewPolicyMatcher(matching.NewMatcher(listers.NewNamespaceLister(known), nil))
	interfaces := admission.NewObjectInterfacesFromScheme(scheme.Scheme)
	versioned := &admission.VersionedAttributes{Attributes: attributes, VersionedObject: object, VersionedKind: kind}
	decisions := []decision{}
	for _, each := range policies {
		matches, matched, _, err := matcher.DefinitionMatches(attributes, interfaces, each.accessor)
		if err != nil {
			return nil, err
		}
		if !matches {
			continue
		}
		for _, binding := range each.bindings {
			bound, err := matcher.BindingMatches(attributes, interfaces, validating.NewValidatingAdmissionPolicyBindingAccessor(binding))
			if err != nil {
				return nil, err
			}
			if !bound {
				continue
			}
			actions := []string{}
			for _, action := range binding.Spec.ValidationActions {
				actions = append(actions, string(action))
			}
			result := each.validator.Validate(
				context.TODO(), matched, versioned, nil, namespace, limits.RuntimeCELCostBudget, nil)
			cost := each.cost(versioned, matched, namespace)
			for _, one := range result.Decisions {
				verdict := string(one.Action)
				if one.Evaluation == validating.EvalError {
					verdict = "error"
				}
				decisions = append(decisions, decision{each.policy.Name, actions, verdict, one.Message, cost})
			}
		}
	}
	return decisions, nil
}

// cost is what all rules and messages of a policy use up of the budget that they share; -1 when it does not last.
func (c *compiled) cost(versioned *admission.VersionedAttributes, matched schema.GroupVersionResource, namespace *core.Namespace) int64 {
	asked := plugin.CreateAdmissionRequest(
		versioned.Attributes, metav1.GroupVersionResource(matched), metav1.GroupVersionKind(versioned.VersionedKind))
	none := plugin.OptionalVariableBindings{}
	left := int64(limits.RuntimeCELCostBudget)
	for _, filter := range []plugin.Filter{c.rules, c.messages} {
		var err error
		_, left, err = filter.ForInput(
			context.TODO(), versioned, asked, none, plugin.CreateNamespaceObject(namespace), left)
		if err != nil {
			return -1
		}
	}
	return limits.RuntimeCELCostBudget - left
}

// decode reads a built-in kind into its Go type and back, as the API server does, and takes others as they are.
func decode(raw []byte) (runtime.Object, schema.GroupVersionKind, schema.GroupVersionResource, error) {
	loose := &unstructured.Unstructured{}
	if err := loose.UnmarshalJSON(raw); err != nil {
		return nil, schema.GroupVersionKind{}, schema.GroupVersionResource{}, err
	}
	kind := loose.GroupVersionKind()
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	if !scheme.Scheme.Recognizes(kind) {
		return loose, kind, resource, nil
	}
	object, err := scheme.Scheme.New(kind)
	if err == nil {
		err = json.Unmarshal(raw, object)
	}
	if err == nil {
		object.GetObjectKind().SetGroupVersionKind(kind)
	}
	return object, kind, resource, err
}
