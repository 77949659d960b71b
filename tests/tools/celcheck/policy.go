package main

import (
	"fmt"

	admission "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	plugin "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// What a policy's expressions may use: no parameters, and the authorizer everywhere but in messages.
var (
	inRules    = plugin.OptionalVariableDeclarations{HasAuthorizer: true, StrictCost: true}
	inMessages = plugin.OptionalVariableDeclarations{StrictCost: true}
)

type compiled struct {
	policy    *admission.ValidatingAdmissionPolicy
	accessor  generic.PolicyAccessor
	bindings  []*admission.ValidatingAdmissionPolicyBinding
	validator validating.Validator
	rules     plugin.Filter
	messages  plugin.Filter
}

func compiler() *plugin.CompositedCompiler {
	base := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion(), true)
	made, err := plugin.NewCompositedCompiler(base)
	if err != nil {
		fail("the CEL environment: %v", err)
	}
	return made
}

func variables(policy *admission.ValidatingAdmissionPolicy) []*validating.Variable {
	var found []*validating.Variable
	for _, variable := range policy.Spec.Variables {
		found = append(found, &validating.Variable{Name: variable.Name, Expression: variable.Expression})
	}
	return found
}

// expressions are a policy's own, as the library wants them; a validation without a messageExpression has nil there.
func expressions(policy *admission.ValidatingAdmissionPolicy) (conditions, rules, messages []plugin.ExpressionAccessor) {
	for i := range policy.Spec.MatchConditions {
		conditions = append(conditions, (*matchconditions.MatchCondition)(&policy.Spec.MatchConditions[i]))
	}
	messages = make([]plugin.ExpressionAccessor, len(policy.Spec.Validations))
	for i, rule := range policy.Spec.Validations {
		rules = append(rules, &validating.ValidationCondition{Expression: rule.Expression, Message: rule.Message, Reason: rule.Reason})
		if rule.MessageExpression != "" {
			messages[i] = &validating.MessageExpressionCondition{MessageExpression: rule.MessageExpression}
		}
	}
	return conditions, rules, messages
}

// refused compiles every expression as the API server does when a policy is created, and says which it would refuse.
func refused(policy *admission.ValidatingAdmissionPolicy) []finding {
	var found []finding
	made := compiler()
	check := func(field string, result plugin.CompilationResult) {
		if result.Error != nil {
			found = append(found, finding{policy.Name, field, result.Error.Error()})
		}
	}
	for i, variable := range variables(policy) {
		field := fmt.Sprintf("spec.variables[%d].expression", i)
		check(field, made.CompileAndStoreVariable(variable, inRules, environment.NewExpressions))
	}
	conditions, rules, messages := expressions(policy)
	for _, group := range []struct {
		field string
		list  []plugin.ExpressionAccessor
		may   plugin.OptionalVariableDeclarations
	}{
		{"spec.matchConditions[%d].expression", conditions, inRules},
		{"spec.validations[%d].expression", rules, inRules},
		{"spec.validations[%d].messageExpression", messages, inMessages},
	} {
		for i, expression := range group.list {
			if expression != nil {
				check(fmt.Sprintf(group.field, i), made.CompileCELExpression(expression, group.may, environment.NewExpressions))
			}
		}
	}
	return found
}

// defaults fills in what the API server does when a policy or a binding is created.
func defaults(match *admission.MatchResources) {
	if match == nil {
		return
	}
	if match.NamespaceSelector == nil {
		match.NamespaceSelector = &metav1.LabelSelector{}
	}
	if match.ObjectSelector == nil {
		match.ObjectSelector = &metav1.LabelSelector{}
	}
}

// compile readies a policy for judging.
func compile(policy *admission.ValidatingAdmissionPolicy, bindings []*admission.ValidatingAdmissionPolicyBinding) *compiled {
	defaults(policy.Spec.MatchConstraints)
	for _, binding := range bindings {
		defaults(binding.Spec.MatchResources)
	}
	made := compiler()
	for _, variable := range variables(policy) {
		made.CompileAndStoreVariable(variable, inRules, environment.StoredExpressions)
	}
	conditions, rules, messages := expressions(policy)
	var matcher matchconditions.Matcher
	if len(conditions) > 0 {
		filter := made.Compile(conditions, inRules, environment.StoredExpressions)
		matcher = matchconditions.NewMatcher(filter, policy.Spec.FailurePolicy, "policy", "validate", policy.Name)
	}
	result := &compiled{
		policy:   policy,
		accessor: validating.NewValidatingAdmissionPolicyAccessor(policy),
		bindings: bindings,
		rules:    made.Compile(rules, inRules, environment.StoredExpressions),
		messages: made.Compile(messages, inMessages, environment.StoredExpressions),
	}
	none := made.Compile(nil, inRules, environment.StoredExpressions)
	result.validator = validating.NewValidator(result.rules, matcher, none, result.messages, policy.Spec.FailurePolicy)
	return result
}

type schemas map[string]*spec.Schema

func (s schemas) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	if found, ok := s[kind.GroupVersion().String()+"/"+kind.Kind]; ok {
		return found, nil
	}
	return nil, resolver.ErrSchemaNotFound
}

// typed checks the rules, the messages, and each variable and condition as if it were a rule, against the kinds' schemas.
func typed(policy *admission.ValidatingAdmissionPolicy, known schemas) ([]finding, []string) {
	mapper := meta.NewDefaultRESTMapper(nil)
	kinds := []string{}
	for name := range known {
		kind := schema.FromAPIVersionAndKind(split(name))
		mapper.Add(kind, meta.RESTScopeNamespace)
	}
	checker := &validating.TypeChecker{SchemaResolver: known, RestMapper: mapper}
	for _, rule := range policy.Spec.MatchConstraints.ResourceRules {
		for _, group := range rule.APIGroups {
			for _, version := range rule.APIVersions {
				for _, resource := range rule.Resources {
					full := schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
					if kind, err := mapper.KindFor(full); err == nil {
						kinds = append(kinds, kind.GroupVersion().String()+"/"+kind.Kind)
					}
				}
			}
		}
	}
	found := []finding{}
	for _, warning := range checker.Check(policy) {
		found = append(found, finding{policy.Name, warning.FieldRef, warning.Warning})
	}
	context := checker.CreateContext(policy)
	for i, variable := range policy.Spec.Variables {
		if said := checker.CheckExpression(context, variable.Expression).String(); said != "" {
			found = append(found, finding{policy.Name, fmt.Sprintf("spec.variables[%d]", i), said})
		}
	}
	for i, condition := range policy.Spec.MatchConditions {
		if said := checker.CheckExpression(context, condition.Expression).String(); said != "" {
			found = append(found, finding{policy.Name, fmt.Sprintf("spec.matchConditions[%d]", i), said})
		}
	}
	return found, kinds
}

// split takes "batch/v1/Job" or "v1/Pod" apart.
func split(name string) (apiVersion, kind string) {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '/' {
			return name[:i], name[i+1:]
		}
	}
	return "", name
}
